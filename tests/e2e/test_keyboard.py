"""The page without a mouse, and with a screen reader."""

from playwright.sync_api import Page, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.support.people import PASSWORD
from tests.support.server import Server


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on what is called `name`."""
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    raise AssertionError(f"{name} cannot be reached by Tab")


def test_the_keyboard_is_enough_from_signing_in_to_signing_out(window: Window, server: Server) -> None:
    page = window(server)
    page.goto("/")
    expect(page.get_by_label("Name or email")).to_be_focused()
    page.keyboard.type("carol")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    chat = ChatPage(page)
    expect(chat.box).to_be_focused()
    page.keyboard.type("Hello")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("there")
    page.keyboard.press("Enter")
    assert chat.ended() == "You said: Hello\nthere"
    expect(chat.box).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("The reply is finished")
    tab_to(page, "CAccount: carol")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Administration")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_first_tab_leads_past_the_conversations_to_the_box(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.page.evaluate("document.activeElement.blur()")
    tab_to(chat.page, "Skip to the message box")
    chat.page.keyboard.press("Enter")
    expect(chat.box).to_be_focused()
