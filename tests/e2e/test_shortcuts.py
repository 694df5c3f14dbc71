"""Keys: the table of the shortcuts and what it promises; those that move by pages from the message box."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import findings
from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.page_observers import stands
from tests.e2e.seed import numbered, talk
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


def test_without_scripts_it_is_a_page(window: Window, server: Server) -> None:
    page = window(server, "alice", at="/shortcuts/", width=320, java_script_enabled=False)
    row = page.get_by_role("row", name="Start a new chat")
    expect(row).to_be_visible()
    assert len({key.bounding_box()["y"] for key in row.locator("kbd").all()}) == 1  # Ctrl+Shift+O in one line
    page.get_by_role("link", name="Back to chat").click()
    expect(page).to_have_url(re.compile("/$"))


END = "document.documentElement.scrollHeight - innerHeight"


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    """A long conversation, at its end, with the focus in the box."""
    page = window(server, "alice", at=talk(server, "alice", numbered(40)))
    made = ChatPage(page)
    expect(made.box).to_be_focused()
    return made.ready()  # the module of these keys is loaded after those of the first view


def test_page_up_and_down_scroll_the_conversation(chat: ChatPage) -> None:
    end = stands(chat.page)
    chat.box.press("PageUp")
    place = stands(chat.page)
    assert end - 800 < place < end - 400
    chat.box.press("PageUp")
    place = stands(chat.page)
    chat.box.press("PageDown")
    assert stands(chat.page) > place + 400
    expect(chat.box).to_be_focused()


def test_the_first_key_loads_the_module_of_the_keys(window: Window, server: Server) -> None:
    page = window(server, "alice")
    page.clock.install(time=0)
    page.clock.pause_at(1_000)  # else a timer loads the module after 1.5 s
    page.goto("/")
    expect(ChatPage(page).box).to_be_focused()
    with page.expect_request("**/background.*js"):
        page.keyboard.press("Shift")


def test_home_and_end_scroll_while_the_box_is_empty(chat: ChatPage) -> None:
    chat.box.press("Home")
    chat.page.wait_for_function("() => scrollY < 2000")
    chat.box.press("End")
    chat.page.wait_for_function(f"() => {END} - scrollY < 2")
    chat.box.fill("Some text")
    chat.box.press("Home")
    chat.page.keyboard.type("In front: ")
    expect(chat.box).to_have_value("In front: Some text")
    chat.page.wait_for_function(f"() => {END} - scrollY < 2")


def test_page_up_holds_while_a_reply_is_written(chat: ChatPage) -> None:
    chat.ask(question("words tokens=4000 delay=0.02"))
    chat.grown_to(200)
    chat.box.press("PageUp")
    expect(chat.jump).to_be_visible()
    place = stands(chat.page)
    chat.grown_to(len(chat.text) + 200)
    assert chat.page.evaluate("scrollY") == place
    chat.box.press("End")
    expect(chat.jump).to_be_hidden()
    chat.stop.click()
    chat.ended("stopped")
