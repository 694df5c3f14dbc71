"""Questions with code: drawn as code when they are sent, loaded and edited, and copied as they were typed."""

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import named
from tests.e2e.seed import talk
from tests.support.server import Server

ASKED = "What is *this*?\n```python\nprint('<b>')\n```\nThanks"


def test_code_in_a_question_is_drawn_and_edited_as_it_was_typed(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, permissions=["clipboard-read", "clipboard-write"])
    chat.asked(ASKED)
    for _ in range(2):
        expect(chat.questions.locator("figcaption")).to_have_text("python")
        expect(chat.questions.locator(".s")).to_have_text("'<b>'")
        expect(chat.questions).not_to_contain_text("```", use_inner_text=True)
        expect(chat.questions).to_contain_text("*this*")
        chat.page.reload()
    chat.questions.get_by_role("button", name="Copy code").click()
    expect(chat.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    assert chat.page.evaluate("navigator.clipboard.readText()") == "print('<b>')\n"
    chat.questions.hover()
    named(chat.questions, "Edit").click()
    expect(chat.page.get_by_role("textbox", name="Edit your message")).to_have_value(ASKED)


def test_on_a_phone_a_tap_on_a_question_shows_its_actions(window: Window, server: Server) -> None:
    page = window(server, "alice", width=390, is_mobile=True, has_touch=True)
    page.goto(talk(server, "alice", ["One?", "Yes.", "Two?", "No."]))
    chat = ChatPage(page)
    edit = named(chat.questions.first, "Edit")  # a screen reader finds it
    opacity = "element => getComputedStyle(element.closest('.message-footer')).opacity"
    assert edit.evaluate(opacity) == "0"
    expect(chat.replies.first.locator("summary[data-part=model]")).to_be_hidden()
    chat.questions.first.locator("[data-part=text]").tap()
    assert edit.evaluate(opacity) == "1"
    chat.replies.first.locator("[data-part=text]").tap()
    assert edit.evaluate(opacity) == "0"
    edit.focus()
    assert edit.evaluate(opacity) == "1"
    named(chat.reply, "More actions").tap()
    expect(page.get_by_role("menu").get_by_text("GLM 4.7 Flash")).to_be_visible()
