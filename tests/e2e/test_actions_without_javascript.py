"""The buttons under a message are forms if JavaScript is off."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, question, words
from tests.e2e.input_methods import MOUSE, named, walks
from tests.e2e.without_javascript import ask
from tests.support.server import Server


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return ChatPage.open(window, server, java_script_enabled=False)


def complete(chat: ChatPage) -> None:
    expect(chat.reply).to_have_attribute("data-status", "complete")


def test_a_reply_is_regenerated_and_its_versions_walked(chat: ChatPage) -> None:
    ask(chat, question("words tokens=8"))
    complete(chat)
    MOUSE.press(named(chat.reply, "Regenerate"))
    walks(chat.reply, 2, 2)
    complete(chat)
    MOUSE.press(named(chat.reply, "Previous version"))
    walks(chat.reply, 1, 2)
    MOUSE.press(named(chat.reply, "Next version"))
    walks(chat.reply, 2, 2)


def test_a_reply_that_was_cut_goes_on(chat: ChatPage) -> None:
    ask(chat, f"{question('length tokens=5')}\nfake-then: words tokens=3")
    expect(chat.reply).to_have_attribute("data-status", "truncated")
    named(chat.reply, "Continue").click()
    complete(chat)
    expect(chat.reply.locator("[data-part=text]")).to_have_text(words(5) + "more1 more2 more3")


def test_a_thumb_is_given_with_a_reason_and_taken_back(chat: ChatPage) -> None:
    ask(chat, "Hello")
    complete(chat)
    MOUSE.press(named(chat.reply, "Good reply"))
    expect(named(chat.reply, "Good reply")).to_have_attribute("aria-pressed", "true")
    chat.reply.get_by_label("Why? (optional)").fill("Short")
    with chat.page.expect_event("load"):  # what was filled in stands in the old page, too
        named(chat.reply, "Send").click()
    expect(chat.reply.get_by_label("Why? (optional)")).to_have_value("Short")
    MOUSE.press(named(chat.reply, "Good reply"))
    expect(named(chat.reply, "Good reply")).to_have_attribute("aria-pressed", "false")
    expect(chat.reply.get_by_label("Why? (optional)")).to_have_count(0)


def test_actions_that_need_a_script_are_not_offered(chat: ChatPage) -> None:
    ask(chat, "Hello")
    complete(chat)
    expect(named(chat.reply, "Regenerate")).to_be_visible()
    expect(named(chat.reply, "Copy message")).to_be_hidden()
    expect(named(chat.questions.last, "Edit")).to_be_hidden()
