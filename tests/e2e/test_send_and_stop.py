"""One button sends and stops: each press does what its person meant, and one press never does both."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import DOUBLE_TAP_MILLISECONDS, ChatPage, Window, question
from tests.support.server import Server

LONG = question("words tokens=4000 delay=0.05")


def goes_on(chat: ChatPage) -> None:
    """The reply still grows a double tap later, and nothing else was asked."""
    length = len(chat.grown_to(1))
    chat.page.wait_for_timeout(DOUBLE_TAP_MILLISECONDS)
    chat.grown_to(length + 20)
    expect(chat.stop).to_be_visible()
    expect(chat.reply).to_have_attribute("data-status", "running")
    expect(chat.questions).to_have_count(1)


def ends(chat: ChatPage) -> None:
    chat.stop.click()
    chat.ended("stopped")


def test_a_double_click_on_send_does_not_stop_the_reply(chat: ChatPage) -> None:
    chat.box.fill(LONG)
    chat.send.dblclick(delay=60)
    goes_on(chat)
    ends(chat)


def test_a_double_tap_on_send_does_not_stop_the_reply(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, width=390, has_touch=True, is_mobile=True)
    chat.box.fill(LONG)
    box = chat.send.bounding_box()
    assert box
    for _ in range(2):
        chat.page.touchscreen.tap(box["x"] + 20, box["y"] + 20)
    goes_on(chat)
    chat.stop.tap()
    chat.ended("stopped")


@pytest.mark.parametrize("at", ["box", "button"])
def test_enter_that_is_held_sends_once_and_stops_nothing(chat: ChatPage, at: str) -> None:
    chat.box.fill(LONG)
    (chat.box if at == "box" else chat.send).focus()
    for _ in range(8):  # without a release between them each is a repetition
        chat.page.keyboard.down("Enter")
        chat.page.wait_for_timeout(30)
    goes_on(chat)
    chat.page.keyboard.down("Enter")
    chat.page.keyboard.up("Enter")
    goes_on(chat)
    ends(chat)


def test_a_stop_with_a_token_of_before_stops_as_well(chat: ChatPage) -> None:
    chat.ask(LONG)
    chat.grown_to(20)
    chat.page.context.clear_cookies(name="csrftoken")
    ends(chat)


def test_a_question_that_was_stopped_needs_no_login(chat: ChatPage) -> None:
    held: list[Route] = []
    chat.page.route("**/c/?html=1", lambda route: held.append(route))
    with chat.page.expect_request("**/c/?html=1"):
        chat.ask("Never mind")
    chat.stop.click()
    expect(chat.page.locator("[data-busy=stopping]")).to_be_attached()
    held[0].fulfill(status=401, json={"error": {"code": "signed_out", "message": "Sign in."}})
    expect(chat.box).to_have_value("Never mind")
    expect(chat.page.get_by_role("dialog")).to_have_count(0)


def test_a_double_click_on_stop_stops_and_sends_nothing(chat: ChatPage) -> None:
    chat.ask(LONG)
    chat.grown_to(20)
    chat.box.fill("What I write meanwhile")
    chat.stop.dblclick(delay=150)
    chat.ended("stopped")
    expect(chat.send).to_be_visible()
    expect(chat.box).to_have_value("What I write meanwhile")
    expect(chat.questions).to_have_count(1)
    chat.box.fill("What I send now")
    chat.send.click()  # at once, for nobody writes within a double click
    expect(chat.questions).to_have_count(2)


def test_a_press_of_stop_that_the_reply_forestalls_sends_nothing(chat: ChatPage) -> None:
    chat.ask(question("words tokens=40 delay=0.05"))
    chat.box.fill("What I write meanwhile")
    chat.stop.hover()
    chat.page.mouse.down()
    chat.ended()
    expect(chat.send).to_be_visible()
    chat.page.mouse.up()
    expect(chat.questions).to_have_count(1)
    expect(chat.box).to_have_value("What I write meanwhile")
    chat.send.click()
    expect(chat.questions).to_have_count(2)


def test_after_a_stop_by_mouse_one_writes_on(chat: ChatPage) -> None:
    chat.ask(LONG)
    chat.grown_to(20)
    chat.stop.click()
    expect(chat.box).to_be_focused()
    chat.ended("stopped")
    chat.page.keyboard.type("On")
    expect(chat.box).to_have_value("On")


def test_after_a_stop_by_keyboard_the_focus_stays(chat: ChatPage) -> None:
    chat.ask(LONG)
    chat.grown_to(20)
    chat.stop.focus()
    chat.page.keyboard.press("Enter")
    chat.ended("stopped")
    expect(chat.send).to_be_focused()
