"""With JavaScript off, forms and reloads do the same."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of, words
from tests.people import PASSWORD
from tests.server import Server


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return ChatPage.open(window, server, java_script_enabled=False)


def ask(chat: ChatPage, text: str) -> None:
    chat.box.fill(text)
    chat.send.click()
    chat.has_address()


def test_signing_in_asking_and_signing_out_need_no_script(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, "", java_script_enabled=False)
    chat.page.get_by_label("Name or e-mail").fill("carol@example.org")
    chat.page.get_by_label("Password").fill(PASSWORD)
    chat.page.get_by_role("button", name="Sign in").click()
    ask(chat, "Hello")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert text_of(chat.reply) == "You said: Hello"
    ask(chat, "And again")
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert [text_of(reply) for reply in chat.replies.all()] == ["You said: Hello", "You said: And again"]
    chat.page.get_by_role("button", name="Sign out").click()
    expect(chat.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_page_asks_again_until_the_reply_is_whole(chat: ChatPage) -> None:
    ask(chat, question("words tokens=50 delay=0.05"))
    assert len(text_of(chat.reply)) < len(words(50))
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert text_of(chat.reply) == words(50)
    assert chat.page.locator("noscript meta").count() == 0


def test_a_reply_is_stopped_and_its_conversation_deleted(chat: ChatPage) -> None:
    ask(chat, question("words tokens=2000 delay=0.05", "What is to be stopped?"))
    chat.stop.click()
    expect(chat.reply).to_have_attribute("data-status", "stopped")
    chat.page.get_by_role("button", name="This conversation").click()
    chat.page.get_by_text("Delete this conversation").click()
    chat.page.get_by_role("button", name="Delete").click()
    expect(chat.page.get_by_role("heading", name="New chat")).to_be_visible()
    expect(chat.page.get_by_role("link", name="What is to be stopped?")).to_have_count(0)


def test_a_failed_reply_is_tried_again(chat: ChatPage) -> None:
    ask(chat, question("flaky fails=1 code=5007 key=plain"))
    chat.page.get_by_role("button", name="Try again").click()
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert text_of(chat.reply) == words(5)
    expect(chat.questions).to_have_count(1)


def test_a_blank_question_gets_a_page_that_says_why(chat: ChatPage) -> None:
    chat.box.fill("   ")
    chat.send.click()
    expect(chat.page.get_by_text("Write something.")).to_be_visible()
