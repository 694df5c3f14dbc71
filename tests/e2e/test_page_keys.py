"""Keys that move by pages, while the message box has the focus."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.scrolling import stands
from tests.e2e.seed import numbered, talk
from tests.support.server import Server

END = "document.documentElement.scrollHeight - innerHeight"


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    """A long conversation, at its end, with the focus in the box."""
    page = window(server, "alice")
    page.goto(talk(server, "alice", numbered(40)))
    made = ChatPage(page)
    expect(made.box).to_be_focused()
    page.wait_for_timeout(2_000)  # the module of these keys is loaded after those of the first view
    return made


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


@pytest.mark.parametrize("modifier", ["", "Control+"])
def test_home_and_end_scroll_while_the_box_is_empty(chat: ChatPage, modifier: str) -> None:
    chat.box.press(f"{modifier}Home")
    chat.page.wait_for_function("() => scrollY < 2000")
    chat.box.press(f"{modifier}End")
    chat.page.wait_for_function(f"() => {END} - scrollY < 2")
    chat.box.fill("Some text")
    chat.box.press(f"{modifier}Home")
    chat.page.keyboard.type("In front: ")
    expect(chat.box).to_have_value("In front: Some text")
    chat.page.wait_for_function(f"() => {END} - scrollY < 2")


def test_a_text_that_scrolls_keeps_its_own_keys(chat: ChatPage) -> None:
    chat.box.fill("A line.\n" * 60)
    place = stands(chat.page)
    chat.box.press("PageUp")
    assert stands(chat.page) == place
    assert chat.box.evaluate("(box) => box.selectionStart < box.value.length")


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
