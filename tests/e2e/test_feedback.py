"""Feedback on a reply: one press and, optionally, a few words."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import WHY, ChatPage, Window
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way, delete, named
from tests.support.server import Server


def replied(chat: ChatPage) -> ChatPage:
    chat.asked("Hello")
    return chat


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return replied(ChatPage.open(window, server))


def pressed(chat: ChatPage, up: bool, down: bool) -> None:
    expect(named(chat.reply, "Good reply")).to_have_attribute("aria-pressed", str(up).lower())
    expect(named(chat.reply, "Bad reply")).to_have_attribute("aria-pressed", str(down).lower())


def why(chat: ChatPage) -> Locator:
    return chat.reply.get_by_role("textbox", name=WHY)


def thanked(chat: ChatPage) -> None:
    expect(chat.page.get_by_role("status").filter(has_text="Thank you")).to_have_count(1)


@MOUSE_ELSEWHERE
def test_a_thumb_is_given_turned_and_taken_back(window: Window, server: Server, way: Way) -> None:
    chat = replied(ChatPage.open(window, server, **way.window))
    way.press(named(chat.reply, "Good reply"))
    pressed(chat, up=True, down=False)
    thanked(chat)
    expect(why(chat)).to_have_count(0)  # praise needs no reason
    chat.page.reload()
    pressed(chat, up=True, down=False)
    way.press(named(chat.reply, "Bad reply"))
    expect(why(chat)).to_be_visible()
    chat.page.reload()
    pressed(chat, up=False, down=True)
    way.press(named(chat.reply, "Bad reply"))
    expect(chat.page.get_by_role("status").filter(has_text="Rating removed")).to_have_count(1)
    pressed(chat, up=False, down=False)
    chat.page.reload()
    pressed(chat, up=False, down=False)


@MOUSE_ELSEWHERE
def test_a_reason_is_sent_from_under_the_reply_and_shown_again(
    window: Window, server: Server, way: Way
) -> None:
    chat = replied(ChatPage.open(window, server, **way.window))
    way.press(named(chat.reply, "Bad reply"))
    expect(why(chat)).to_be_focused()
    if way.name == "keyboard":
        chat.page.keyboard.type("It only repeats me")
        chat.page.keyboard.press("Enter")
    else:
        why(chat).fill("It only repeats me")
        way.press(named(chat.reply, "Send"))
    expect(why(chat)).to_have_count(0)
    expect(named(chat.reply, "Bad reply")).to_be_focused()
    chat.page.reload()
    pressed(chat, up=False, down=True)
    expect(named(chat.reply, "Bad reply")).to_have_attribute("title", "Bad reply: It only repeats me")


@pytest.mark.parametrize("how", ["Escape", "Close"])
def test_the_question_why_goes_away_without_an_answer(chat: ChatPage, how: str) -> None:
    MOUSE.press(named(chat.reply, "Bad reply"))
    expect(why(chat)).to_be_focused()
    if how == "Escape":
        chat.page.keyboard.press("Escape")
    else:
        named(chat.reply, "Close").click()
    expect(why(chat)).to_have_count(0)
    expect(named(chat.reply, "Bad reply")).to_be_focused()
    pressed(chat, up=False, down=True)


def test_a_thumb_turns_while_a_reply_is_being_written(chat: ChatPage) -> None:
    chat.ask("And\nfake: words tokens=2000 delay=0.02")
    chat.grown_to(30)
    first = chat.replies.first
    MOUSE.press(named(first, "Bad reply"))
    expect(named(first, "Bad reply")).to_have_attribute("aria-pressed", "true")
    expect(first.get_by_role("textbox", name=WHY)).to_be_visible()  # the server has it
    chat.stop.click()
    chat.ended("stopped")
    chat.page.reload()
    expect(named(first, "Bad reply")).to_have_attribute("aria-pressed", "true")


def test_a_refused_thumb_goes_back_and_says_so_under_the_reply(chat: ChatPage) -> None:
    MOUSE.press(named(chat.reply, "Good reply"))
    thanked(chat)
    delete(chat)
    MOUSE.press(named(chat.reply, "Bad reply"))
    expect(chat.reply.get_by_role("alert")).not_to_be_empty()
    pressed(chat, up=True, down=False)
