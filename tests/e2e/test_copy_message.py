"""Copying a message: a reply's Markdown, a question as it was typed."""

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way, delete, named
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

MARKDOWN = "# Bread\n\n* **Flour**\n* Water & salt <1 %\n\n```sh\nbake --now\n```\n"
MAY = {"permissions": ["clipboard-read", "clipboard-write"]}


def says_so(chat: ChatPage) -> None:
    expect(chat.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)


def copied(chat: ChatPage) -> str:
    says_so(chat)
    return str(chat.page.evaluate("navigator.clipboard.readText()"))


@MOUSE_ELSEWHERE
def test_a_reply_is_copied_as_the_markdown_it_was_written_in(
    window: Window, server: Server, way: Way
) -> None:
    chat = ChatPage.open(window, server, **way.window, **MAY)
    chat.ask(f"A recipe\n{says_line(MARKDOWN, size=5)}")
    chat.ended()
    way.press(named(chat.reply, "Copy message"))
    assert copied(chat) == MARKDOWN


def test_a_question_is_copied_as_it_was_typed(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **MAY)
    chat.ask("  two\n\n   lines *as they are* ")
    chat.ended()
    MOUSE.press(named(chat.questions.last, "Copy message"))
    assert copied(chat) == "  two\n\n   lines *as they are* "


def test_where_pages_have_no_clipboard_it_is_copied_all_the_same(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **MAY)
    chat.ask("Hello")
    chat.ended()
    chat.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})"
    )
    MOUSE.press(named(chat.reply, "Copy message"))
    says_so(chat)  # else it would be back before the button has looked for it
    chat.page.evaluate("delete navigator.clipboard")
    assert copied(chat) == "You said: Hello"
    expect(named(chat.reply, "Copy message")).to_be_focused()


def test_a_failed_copy_is_noted_under_the_message(window: Window, server: Server) -> None:
    chat = ChatPage.open(window, server, **MAY)
    chat.ask("Hello")
    chat.ended()
    delete(chat)
    MOUSE.press(named(chat.reply, "Copy message"))
    expect(chat.reply.get_by_role("alert")).to_have_text("Your browser blocked copying.")
