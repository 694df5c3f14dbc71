"""Copying code and messages: what streamed, what was loaded, with a clipboard and without."""

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.chat_page import MAY_COPY, ChatPage, Window
from tests.e2e.input_methods import MOUSE, delete, named, reach
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

CODE = 'def f():\n    return "<b>&amp;</b>"\n'
TEXT = f"Look:\n\n```python\n{CODE}```\n\n- in a list\n\n  ```\n  nested\n  ```\n"
NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"  # as on plain http


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return ChatPage.open(window, server, permissions=["clipboard-read", "clipboard-write"])


def button(chat: ChatPage) -> Locator:
    return chat.reply.locator("figure.code").first.get_by_role("button", name="Copy code")


def pastes(chat: ChatPage, text: str) -> None:
    chat.box.fill("")
    chat.box.press("ControlOrMeta+v")
    expect(chat.box).to_have_value(text)


def test_code_is_copied_exactly_streamed_or_loaded(chat: ChatPage) -> None:
    chat.asked(f"Go on.\n{says_line(TEXT, size=9, delay=0.01)}")
    for copied in chat.reply.get_by_role("button", name="Copy code").all():
        copied.click()
        expect(copied.locator("use")).to_have_attribute("href", "#icon-done")
        expect(chat.page.get_by_role("status")).to_have_text("Copied")
    pastes(chat, "nested\n")
    chat.page.reload()
    expect(chat.reply.get_by_role("button", name="Copy code")).to_have_count(2)
    button(chat).click()
    expect(button(chat).locator("use")).to_have_attribute("href", "#icon-done")
    pastes(chat, CODE)
    expect(button(chat).locator("use")).to_have_attribute("href", "#icon-copy")


def test_code_is_copied_without_a_clipboard_api(chat: ChatPage) -> None:
    chat.page.add_init_script(NO_CLIPBOARD)
    chat.page.goto("/")
    chat.asked(f"Go on.\n{says_line(TEXT)}")
    reach(button(chat))
    chat.page.keyboard.press("Enter")
    expect(chat.page.get_by_role("status")).to_have_text("Copied")
    expect(button(chat)).to_be_focused()
    pastes(chat, CODE)


def test_a_browser_that_refuses_is_said(chat: ChatPage) -> None:
    chat.page.add_init_script(f"{NO_CLIPBOARD}; document.execCommand = () => false;")
    chat.page.goto("/")
    chat.asked(f"Go on.\n{says_line(TEXT)}")
    button(chat).click()
    expect(chat.notice).to_have_text("Your browser blocked copying.")


def test_the_focus_stays_on_the_button_when_its_fence_closes(chat: ChatPage) -> None:
    text = f"```python\n{CODE * 20}```\n{'word ' * 60}"
    chat.ask(f"Go on.\n{says_line(text, size=8, delay=0.03)}")
    button(chat).focus()
    expect(chat.reply.locator("figure.code span").first).to_be_attached()  # coloured: it is closed
    expect(button(chat)).to_be_focused()
    chat.ended()


def copied(chat: ChatPage) -> str:
    expect(chat.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    return str(chat.page.evaluate("navigator.clipboard.readText()"))


def test_a_question_is_copied_as_it_was_typed(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **MAY_COPY)
    chat.asked("  two\n\n   lines *as they are* ")
    MOUSE.press(named(chat.questions.last, "Copy message"))
    assert copied(chat) == "  two\n\n   lines *as they are* "


def test_a_failed_copy_is_noted_under_the_message(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **MAY_COPY)
    chat.asked("Hello")
    delete(chat)
    MOUSE.press(named(chat.questions.last, "Copy message"))
    expect(chat.questions.last.get_by_role("alert")).to_have_text("Your browser blocked copying.")
