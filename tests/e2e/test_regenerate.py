"""Another version of a reply, by the same model or another one."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, words
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way, named, walks
from tests.support.server import Server

OPENER = "Regenerate with another model"
TITLE = "Try with another model"
OTHER = "GPT OSS 20B"


def replied(chat: ChatPage, scenario: str = "words tokens=60 delay=0.01") -> ChatPage:
    chat.asked(question(scenario))
    return chat


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return replied(ChatPage.open(window, server))


@MOUSE_ELSEWHERE
def test_a_new_version_grows_in_the_place_of_the_old_one(window: Window, server: Server, way: Way) -> None:
    chat = replied(ChatPage.open(window, server, **way.window))
    old = chat.reply.get_attribute("data-message")
    way.press(named(chat.reply, "Regenerate"))
    expect(chat.reply).not_to_have_attribute("data-message", str(old))
    expect(chat.replies).to_have_count(1)
    assert chat.ended() == words(60)
    walks(chat.reply, 2, 2)
    way.press(named(chat.reply, "Previous version"))
    walks(chat.reply, 1, 2)
    expect(chat.reply).to_have_attribute("data-message", str(old))


@MOUSE_ELSEWHERE
def test_regenerate_with_another_model_names_it(window: Window, server: Server, way: Way) -> None:
    chat = replied(ChatPage.open(window, server, **way.window))
    model_name = str(chat.reply.locator("[data-part=model]").text_content())
    way.press(named(chat.reply, OPENER))
    picker = chat.page.get_by_role("dialog", name=TITLE)
    way.press(picker.get_by_role("button", name="All models"))
    expect(picker.get_by_role("radio", name=model_name)).to_be_checked()
    row = picker.locator(".model-row").filter(has_text=OTHER)
    if way.name == "keyboard":
        chat.page.keyboard.type(OTHER)
        expect(picker.locator(".model-row:visible")).to_have_count(1)
        chat.page.keyboard.press("Enter")
    else:
        way.press(row.locator("label"))
    expect(picker).to_be_hidden()
    expect(chat.reply.locator("[data-part=model]")).to_have_text(OTHER)
    chat.ended()
    expect(chat.page.locator("#pick .label")).to_have_text(OTHER)
    walks(chat.reply, 2, 2)
    chat.page.reload()
    expect(chat.reply.locator("[data-part=model]")).to_have_text(OTHER)


def test_the_picker_of_a_reply_is_left_by_escape(chat: ChatPage) -> None:
    button = named(chat.reply, OPENER)
    button.focus()
    chat.page.keyboard.press("Enter")
    picker = chat.page.get_by_role("dialog", name=TITLE)
    expect(picker.get_by_role("button", name="Careful")).to_be_visible()
    at, shown = button.bounding_box(), picker.bounding_box()
    assert at is not None
    assert shown is not None
    below, above = shown["y"] - at["y"] - at["height"], at["y"] - shown["y"] - shown["height"]
    assert 0 <= max(below, above) <= 16  # at the button that was pressed
    chat.page.keyboard.press("Escape")
    expect(picker).to_be_hidden()
    expect(button).to_be_focused()
    # The header's button opens the same list for the next question.
    MOUSE.press(chat.page.get_by_role("button", name="Model:"))
    expect(chat.page.get_by_role("dialog", name="Choose a model")).to_be_visible()


def held_outcome(chat: ChatPage, key: str) -> list[Route]:
    """A reply has failed, and what can be done about it is still on its way."""
    held: list[Route] = []
    chat.page.route("**/outcome/", lambda route: held.append(route))
    chat.asked(question(f"flaky fails=1 code=5007 key={key}"), "failed")
    expect(chat.send).to_be_visible()
    while not held:
        chat.page.wait_for_timeout(50)
    return held


def test_buttons_do_not_move_under_a_press(chat: ChatPage) -> None:
    # However busy this machine.
    chat.page.evaluate("AbortSignal.timeout = () => new AbortController().signal")
    held = held_outcome(chat, "moves")
    again = chat.reply.get_by_role("button", name="Try again")
    expect(again).to_be_hidden()
    held.pop().continue_()
    again.hover()
    chat.page.mouse.down()
    expect(named(chat.reply, "Another model")).to_be_visible()
    chat.page.mouse.up()
    assert chat.ended() == words(5)


def test_retry_works_if_the_outcome_does_not_load(chat: ChatPage) -> None:
    held = held_outcome(chat, "alone")
    again = chat.reply.get_by_role("button", name="Try again")
    expect(again).to_be_visible()  # it waits for some seconds only
    held.pop().continue_()  # and what comes later is left out
    again.click()
    assert chat.ended() == words(5)
