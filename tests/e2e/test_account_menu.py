"""The foot of the sidebar, and what a list says that is empty or too narrow for its titles."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, account_item
from tests.e2e.input_methods import ALL, FINGER, MOUSE, Way
from tests.e2e.sidebar_page import Shell, conversations, drop
from tests.support.server import Server

LONG = "A title that goes on and on until nobody would read it to its end"
ROW = "row => row.getBoundingClientRect().height"


@ALL
def test_the_account_menu_opens_moves_and_returns_the_focus(window: Window, server: Server, way: Way) -> None:
    shell = Shell.open(window, server, way)
    shell.show_list()
    button = shell.page.get_by_role("button", name="Account: alice")
    expect(button).to_have_attribute("aria-haspopup", "menu")
    shell.press(button)
    first = shell.page.get_by_role("menuitem", name="Settings")
    expect(first).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    shell.page.keyboard.press("ArrowUp")
    expect(shell.page.get_by_role("menuitem", name="Sign out")).to_be_focused()
    shell.page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    shell.page.keyboard.press("Escape")
    expect(first).to_be_hidden()
    expect(button).to_be_focused()
    shell.press(button)
    expect(first).to_be_focused()
    shell.page.keyboard.press("Enter")
    expect(shell.page).to_have_url(f"{server.url}/settings/")
    account = shell.page.locator(".account-button")
    assert account.get_attribute("aria-haspopup") is None, "it shows links here"


@pytest.mark.parametrize(("name", "shown"), [("root", 1), ("alice", 0)])
def test_only_staff_are_led_to_the_administration(
    window: Window, server: Server, name: str, shown: int
) -> None:
    page = ChatPage.open(window, server, name, java_script_enabled=False).page
    expect(account_item(page, "Administration")).to_have_count(shown)


def test_a_title_that_is_cut_off_has_a_tooltip(window: Window, server: Server) -> None:
    drop(server.database, "alice")
    conversations(server.database, "alice", [LONG, "Short"])
    shell = Shell.open(window, server, MOUSE)
    shell.list.hover()
    expect(shell.page.locator(".options-button")).to_have_count(2)
    for title, tooltip in (("Short", None), (LONG, LONG)):
        link = shell.item(title).get_by_role("link")
        link.hover()
        assert link.get_attribute("title") == tooltip


@pytest.mark.parametrize(("way", "least"), [(MOUSE, 34), (FINGER, 44)], ids=["mouse", "finger"])
def test_rows_are_low_for_a_mouse_and_high_for_a_finger(
    window: Window, server: Server, way: Way, least: int
) -> None:
    drop(server.database, "alice")
    conversations(server.database, "alice", ["Sailing"])
    shell = Shell.open(window, server, way)
    shell.show_list()
    assert shell.item("Sailing").evaluate(ROW) == least


def test_an_empty_list_says_what_it_is_for(window: Window, server: Server) -> None:
    drop(server.database, "alice")
    shell = Shell.open(window, server, MOUSE)
    line = shell.page.get_by_text("Your conversations will appear here.")
    expect(line).to_be_visible()
    shell.chat.ask("Hello")
    shell.chat.ended()
    expect(line).to_be_hidden()
    shell.do("Delete", "Hello")
    expect(line).to_be_visible()


def test_a_phone_starts_a_new_chat_from_the_header(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **FINGER.window)
    new = chat.page.get_by_role("link", name="New chat")
    expect(new).to_be_hidden()
    chat.ask("Hello")
    chat.ended()
    new.tap()
    expect(chat.page.get_by_role("heading", name="New chat")).to_be_visible()
    expect(chat.questions).to_have_count(0)
