"""The entry "Share" in the menu of a conversation, by mouse, by finger and without scripts."""

import re

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server

SHARING = re.compile(r"/messages/[0-9a-f-]{36}/share/\??$")


def test_a_new_chat_is_shared_once_it_has_an_address(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=1280)
    chat.ask("Why do boats float?")
    chat.ended()
    chat.has_address()
    chat.page.get_by_role("button", name="More", exact=True).click()
    chat.page.get_by_role("button", name="Share", exact=True).click()
    expect(chat.page).to_have_url(SHARING)
    expect(chat.page.get_by_role("heading", name="Share this conversation")).to_be_visible()
    expect(chat.page.get_by_text("You said: Why do boats float?")).to_be_visible()


def test_a_finger_shares_a_conversation_that_is_opened(window: Window, server: Server) -> None:
    with server.person("alice").ask("Hello") as stream:
        conversation = stream.to_end().conversation
    page = window(server, "alice", width=390, has_touch=True)
    page.goto(f"{server.url}/c/{conversation}/")
    page.get_by_role("button", name="More", exact=True).tap()
    share = page.get_by_role("button", name="Share", exact=True)
    box = share.bounding_box()
    assert box
    assert box["height"] >= 44
    share.tap()
    expect(page).to_have_url(SHARING)


def test_a_temporary_chat_offers_none(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.page.goto("/?temporary=on")
    chat.ask("Hello")
    chat.ended()
    chat.page.get_by_role("button", name="More", exact=True).click()
    expect(chat.page.locator("#menu").get_by_text("Rename", exact=True)).to_be_visible()
    expect(chat.page.get_by_role("button", name="Share", exact=True)).to_have_count(0)
