"""Another version of a reply, by the same model or another one."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of, words
from tests.e2e.input_methods import ALL, MOUSE, MOUSE_ELSEWHERE, Way, delete, named, walks
from tests.support.server import Server

OPENER = "Regenerate with another model"
TITLE = "Try with another model"
OTHER = "GPT OSS 20B"


def replied(chat: ChatPage, scenario: str = "words tokens=60 delay=0.01") -> ChatPage:
    chat.ask(question(scenario))
    chat.ended()
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


def test_later_messages_return_with_their_version(chat: ChatPage) -> None:
    chat.ask("And then?")
    expect(chat.replies).to_have_count(2)
    chat.ended()
    MOUSE.press(named(chat.replies.first, "Regenerate"))
    expect(chat.replies).to_have_count(1)
    chat.ended()
    MOUSE.press(named(chat.reply, "Previous version"))
    expect(chat.replies).to_have_count(2)
    assert text_of(chat.questions.last) == "And then?"


@ALL
def test_regenerate_with_another_model_names_it(window: Window, server: Server, way: Way) -> None:
    chat = replied(ChatPage.open(window, server, **way.window))
    model_name = str(chat.reply.locator("[data-part=model]").text_content())
    way.press(named(chat.reply, OPENER))
    picker = chat.page.get_by_role("dialog", name=TITLE)
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
    expect(picker.get_by_role("radio").first).to_be_visible()
    chat.page.keyboard.press("Escape")
    expect(picker).to_be_hidden()
    expect(button).to_be_focused()
    # The header's button opens the same list for the next question.
    MOUSE.press(chat.page.get_by_role("button", name="Model:"))
    expect(chat.page.get_by_role("dialog", name="Choose a model")).to_be_visible()


def test_a_reply_that_cannot_be_regenerated_comes_back(chat: ChatPage) -> None:
    delete(chat)
    MOUSE.press(named(chat.reply, "Regenerate"))
    expect(chat.notice).not_to_be_empty()
    expect(chat.replies).to_have_count(1)
    assert text_of(chat.reply) == words(60)
    expect(named(chat.reply, "Regenerate")).to_be_focused()


def test_a_busy_conversation_keeps_the_reply_and_follows(chat: ChatPage) -> None:
    tab = chat.another_tab()
    with tab.unaware():
        chat.ask(question("words tokens=2000 delay=0.02"))
        chat.grown_to(30)
        MOUSE.press(named(tab.replies.first, "Regenerate"))
        expect(tab.notice).to_contain_text("Another reply is still being written")
        expect(tab.replies.first).to_be_visible()
        assert text_of(tab.replies.first) == words(60)
    expect(tab.replies).to_have_count(2)
    tab.stop.click()
    assert chat.ended("stopped") == tab.ended("stopped")


def test_a_failed_reply_is_tried_again_as_its_next_version(chat: ChatPage) -> None:
    chat.ask(question("flaky fails=1 code=5007 key=regenerate"))
    chat.ended("failed")
    chat.page.get_by_role("button", name="Try again").locator("visible=true").click()
    assert chat.ended() == words(5)
    walks(chat.reply, 2, 2)
    expect(chat.questions).to_have_count(2)


def held_outcome(chat: ChatPage, key: str) -> list[Route]:
    """A reply has failed, and what can be done about it is still on its way."""
    held: list[Route] = []
    chat.page.route("**/outcome/", lambda route: held.append(route))
    chat.ask(question(f"flaky fails=1 code=5007 key={key}"))
    chat.ended("failed")
    expect(chat.send).to_be_visible()
    while not held:
        chat.page.wait_for_timeout(50)
    return held


def test_buttons_do_not_move_under_a_press(chat: ChatPage) -> None:
    chat.page.evaluate(
        "AbortSignal.timeout = () => new AbortController().signal"
    )  # however busy this machine
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


def test_the_message_footer_keeps_its_height(chat: ChatPage) -> None:
    chat.ask(question("words tokens=150 delay=0.03"))
    chat.grown_to(20)
    foot = chat.reply.locator(".message-footer")
    during = foot.bounding_box()
    expect(foot).to_be_hidden()
    chat.ended()
    expect(foot).to_be_visible()
    after = foot.bounding_box()
    assert during
    assert after
    assert during["height"] == after["height"]
