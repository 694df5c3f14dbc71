"""The keyboard shortcuts: their table, and what it promises."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import ChatPage, Window
from tests.support.server import Server


@pytest.fixture
def page(window: Window, server: Server) -> Page:
    """An empty chat, once its later modules are there."""
    chat = ChatPage.open(window, server)
    chat.ready()
    chat.page.wait_for_timeout(500)
    return chat.page


def test_two_keys_open_the_table(page: Page) -> None:
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    page.keyboard.press("Control+/")
    expect(dialog.get_by_role("row", name="Start a new chat")).to_contain_text("Ctrl+Shift+O")
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(ChatPage(page).box).to_be_focused()
    page.keyboard.type("?")
    expect(ChatPage(page).box).to_have_value("?")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.type("?")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


@pytest.mark.parametrize(
    ("keys", "name"), [("Control+k", "Search your"), ("Control+/", "Keyboard shortcuts")]
)
def test_the_first_keys_on_a_page_are_heard(window: Window, server: Server, keys: str, name: str) -> None:
    page = window(server, "alice")
    page.route("**/js/background*", lambda route: route.abort())  # none of the later modules is there
    page.goto("/")
    page.keyboard.press(keys)
    expect(page.get_by_role("dialog", name=name)).to_be_visible()


def test_the_account_menu_opens_the_table(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Account")).click()
    page.get_by_role("menuitem", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_without_scripts_it_is_a_page(window: Window, server: Server) -> None:
    page = window(server, "alice", width=320, java_script_enabled=False)
    page.goto("/shortcuts/")
    row = page.get_by_role("row", name="Start a new chat")
    expect(row).to_be_visible()
    assert len({key.bounding_box()["y"] for key in row.locator("kbd").all()}) == 1  # Ctrl+Shift+O in one line
    page.get_by_role("link", name="Back to chat").click()
    expect(page).to_have_url(re.compile("/$"))
