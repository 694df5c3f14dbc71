"""Sharing a chat in a dialog over it, by mouse, by finger and without the dialog's module."""

import re

from playwright.sync_api import expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server

SHARING = re.compile(r"/messages/[0-9a-f-]{36}/share/\??$")


def test_two_clicks_share_a_new_chat_and_it_stays_open(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=1280)
    page = chat.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_hidden()
    chat.asked("Why do boats float?")
    chat.has_address()
    page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog", name="Share this chat")
    expect(dialog).to_contain_text("You said: Why do boats float?")
    assert findings(page) == []
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_role("status")).to_have_text("Link created and copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"/s/[\w-]{43}/$", link)
    expect(dialog.get_by_role("textbox", name="Link")).to_have_value(link)
    assert findings(page) == []
    page.evaluate("navigator.clipboard.writeText('')")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(chat.questions).to_have_count(1)
    page.get_by_role("button", name="Share", exact=True).click()
    dialog.get_by_role("button", name="Copy link").click()
    expect(dialog.get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog.get_by_role("button", name="Copy link")).to_have_count(0)
    assert page.request.get(link).status == 404


def test_a_finger_shares_up_to_a_message(window: Window, server: Server) -> None:
    conversation = server.person("alice").asked("Hello").conversation
    page = window(server, "alice", at=f"{server.url}/c/{conversation}/", width=390, has_touch=True)
    share = page.get_by_role("button", name="Share", exact=True)
    box = share.bounding_box()
    assert box
    assert box["height"] >= 40
    share.tap()
    dialog = page.get_by_role("dialog", name="Share this chat")
    dialog.get_by_text("Expiry, title and name").tap()
    dialog.get_by_label("In 1 day").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dialog.get_by_role("button", name="Create link").tap()
    expect(dialog.get_by_role("list")).to_contain_text("expires")
    dialog.get_by_role("button", name="Close").tap()
    expect(dialog).to_be_hidden()


def test_without_its_dialog_the_page_to_share_is_opened(window: Window, server: Server) -> None:
    conversation = server.person("alice").asked("Hello").conversation
    page = window(server, "alice", width=1280)
    page.route("**/share_dialog*.js", lambda route: route.abort())
    page.goto(f"{server.url}/c/{conversation}/")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page).to_have_url(SHARING)
    expect(page.get_by_role("heading", name="Share this chat")).to_be_visible()
