"""Walking between the versions of a question and of a reply."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way, delete, named, walks
from tests.support.server import Server


def two_versions(chat: ChatPage, *later: str) -> ChatPage:
    """A question with two versions, of which the older one goes on with `later`, the newer one is shown."""
    for count, text in enumerate(("Old", *later), 1):
        chat.ask(text)
        expect(chat.replies).to_have_count(count)
        chat.ended()
    question = chat.questions.first
    question.locator("[data-part=text]").click()  # on a phone, what can be done with it shows then
    MOUSE.press(named(question, "Edit"))
    edit = chat.questions.first.get_by_role("textbox")
    edit.fill("New")
    edit.press("Control+Enter")
    walks(chat.questions.first, 2, 2)
    expect(chat.questions).to_have_count(1)
    chat.ended()
    return chat


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return two_versions(ChatPage.open(window, server), "Further")


def question_texts(chat: ChatPage) -> list[str]:
    return [text_of(each) for each in chat.questions.all()]


@MOUSE_ELSEWHERE
def test_the_chosen_version_is_stored_with_its_branch(window: Window, server: Server, way: Way) -> None:
    chat = two_versions(ChatPage.open(window, server, **way.window), "Further")
    way.press(named(chat.questions.first, "Previous version"))
    expect(chat.questions).to_have_count(2)
    assert question_texts(chat) == ["Old", "Further"]
    chat.page.reload()
    assert question_texts(chat) == ["Old", "Further"]
    way.press(named(chat.questions.first, "Next version"))
    expect(chat.questions).to_have_count(1)
    chat.page.reload()
    assert question_texts(chat) == ["New"]
    walks(chat.questions.first, 2, 2)


def test_the_focus_stays_on_the_pressed_version_button(chat: ChatPage) -> None:
    back = named(chat.questions.first, "Previous version")
    back.focus()
    chat.page.keyboard.press("Enter")
    walks(chat.questions.first, 1, 2)
    expect(back).to_be_focused()
    expect(back).to_have_attribute("aria-disabled", "true")
    chat.page.keyboard.press("Enter")
    expect(named(chat.questions.first, "Next version")).not_to_have_attribute("aria-disabled", "true")
    assert question_texts(chat) == ["Old", "Further"]


def test_a_screen_reader_hears_which_version_is_shown(chat: ChatPage) -> None:
    MOUSE.press(named(chat.questions.first, "Previous version"))
    expect(chat.page.get_by_role("status").filter(has_text="Version 1 of 2")).to_have_count(1)


def test_the_box_and_what_is_written_there_stay(chat: ChatPage) -> None:
    chat.box.fill("Half a thought")
    MOUSE.press(named(chat.questions.first, "Previous version"))
    expect(chat.questions).to_have_count(2)
    expect(chat.box).to_have_value("Half a thought")


def test_the_buttons_do_not_move_from_under_the_pointer(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server)
    chat.asked(question("words tokens=400 delay=0.001", "Long"))
    MOUSE.press(named(chat.reply, "Regenerate"))
    walks(chat.reply, 2, 2)
    chat.ended()
    chat.page.evaluate("scrollBy(0, -30)")
    before = named(chat.reply, "Previous version").bounding_box()
    assert before
    # At the place itself: Playwright's own click would scroll first.
    chat.page.mouse.click(before["x"] + 8, before["y"] + 8)
    walks(chat.reply, 1, 2)
    after = named(chat.reply, "Previous version").bounding_box()
    assert after
    assert abs(after["y"] - before["y"]) <= 2


def test_a_version_error_is_shown_below_the_message(chat: ChatPage) -> None:
    delete(chat)
    MOUSE.press(named(chat.questions.first, "Previous version"))
    expect(chat.questions.first.get_by_role("alert")).not_to_be_empty()
    assert question_texts(chat) == ["New"]


def test_a_version_without_network_can_be_retried(chat: ChatPage) -> None:
    chat.page.context.set_offline(True)
    MOUSE.press(named(chat.questions.first, "Previous version"))
    expect(chat.questions.first.get_by_role("alert")).to_contain_text("This didn’t work")
    chat.page.context.set_offline(False)
    MOUSE.press(named(chat.questions.first, "Previous version"))
    expect(chat.questions).to_have_count(2)


def test_while_a_reply_is_written_there_is_no_walking(chat: ChatPage) -> None:
    chat.ask(question("words tokens=2000 delay=0.02"))
    chat.grown_to(30)
    back = named(chat.questions.first, "Previous version")
    expect(back).to_have_attribute("aria-disabled", "true")
    back.click(force=True)  # a person can, whatever it is called
    expect(chat.questions.first.get_by_role("alert")).to_contain_text("A reply is still being written")
    chat.stop.click()
    chat.ended("stopped")
    MOUSE.press(back)
    expect(chat.questions.last.locator("[data-part=text]")).to_have_text("Further")
    expect(chat.page.locator(".message-error")).to_have_count(0)


def test_only_the_last_or_hovered_message_shows_buttons(chat: ChatPage) -> None:
    MOUSE.press(named(chat.questions.first, "Previous version"))
    expect(chat.questions).to_have_count(2)
    chat.box.hover()
    chat.box.focus()
    first, last = (each.locator(".message-actions") for each in (chat.replies.first, chat.replies.last))
    expect(first).to_have_css("opacity", "0")
    expect(last).to_have_css("opacity", "1")
    chat.replies.first.hover()
    expect(first).to_have_css("opacity", "1")
    chat.box.hover()
    named(chat.replies.first, "Copy message").focus()
    expect(first).to_have_css("opacity", "1")


def test_a_button_can_be_hit_with_a_finger(window: Window, server: Server) -> None:
    chat = two_versions(ChatPage.open(window, server, width=320, has_touch=True, is_mobile=True))
    for button in chat.page.locator("#thread .icon-button:visible").all():
        box = button.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 28
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
        assert button.evaluate("element => getComputedStyle(element.parentElement).opacity") == "1"
