"""Uploads that end before they have arrived whole."""

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage
from tests.support.server import Server

BOOK = {"name": "book.txt", "mimeType": "text/plain", "buffer": b"word " * 200_000}
NETWORK = {
    "offline": False,
    "latency": 0,
    "downloadThroughput": -1,
    "uploadThroughput": 60_000,
}  # bytes a second
PROGRESS = "() => document.querySelector('.tray progress')?.value > 0"


def test_a_file_whose_upload_a_restart_has_cut_is_kept(chat: ChatPage, server: Server) -> None:
    session = chat.page.context.new_cdp_session(chat.page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", NETWORK)
    chat.page.locator("#files").set_input_files([BOOK])  # type: ignore[list-item]
    chat.page.wait_for_function(PROGRESS)
    server.terminate()
    again = chat.page.get_by_role("button", name="Try again: book.txt")
    expect(again).to_be_visible()
    expect(chat.notice).to_have_text("book.txt couldn’t be added. Check your connection and try again.")
    session.send("Network.emulateNetworkConditions", {**NETWORK, "uploadThroughput": -1})
    server.start()
    again.click()
    expect(chat.page.locator(".tray .document a:visible")).to_have_count(1)
    expect(chat.notice).to_be_empty()
