"""Uploads that end before they have arrived whole."""

import pytest
from playwright.sync_api import CDPSession, expect

from tests.e2e.chat_page import ChatPage
from tests.support.server import Server

BOOK = {"name": "book.txt", "mimeType": "text/plain", "buffer": b"word " * 200_000}
NOTE = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"A note."}
NETWORK = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 60_000}  # a second
PROGRESS = "() => document.querySelector('.tray progress')?.value > 0"


@pytest.fixture
def slow(chat: ChatPage) -> CDPSession:
    session = chat.page.context.new_cdp_session(chat.page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", NETWORK)
    return session


def test_a_file_whose_upload_a_reload_has_cut_is_named_once(chat: ChatPage, slow: CDPSession) -> None:
    chat.box.fill("What is it about?")
    chat.page.locator("#files").set_input_files([NOTE, BOOK])  # type: ignore[list-item]
    expect(chat.page.locator(".tray .document a:visible")).to_have_count(1)
    chat.page.wait_for_function(PROGRESS)
    chat.page.reload()
    expect(chat.notice).to_contain_text("before these files were added: book.txt. Choose them again.")
    expect(chat.page.locator(".tray .attachment-name")).to_have_text(["note.txt"])
    expect(chat.box).to_have_value("What is it about?")
    chat.page.reload()
    expect(chat.page.locator(".tray .attachment-name")).to_have_text(["note.txt"])
    expect(chat.notice).to_be_empty()


def test_a_file_whose_upload_a_restart_has_cut_is_kept(
    chat: ChatPage, slow: CDPSession, server: Server
) -> None:
    chat.page.locator("#files").set_input_files([BOOK])  # type: ignore[list-item]
    chat.page.wait_for_function(PROGRESS)
    server.terminate()
    again = chat.page.get_by_role("button", name="Try again: book.txt")
    expect(again).to_be_visible()
    expect(chat.notice).to_have_text("book.txt couldn’t be added. Check your connection and try again.")
    slow.send("Network.emulateNetworkConditions", {**NETWORK, "uploadThroughput": -1})
    server.start()
    again.click()
    expect(chat.page.locator(".tray .document a:visible")).to_have_count(1)
    expect(chat.notice).to_be_empty()
