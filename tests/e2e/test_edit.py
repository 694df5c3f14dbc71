"""A question is edited where it stands; what it was, and what followed, stays."""

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of
from tests.e2e.input_methods import MOUSE, MOUSE_ELSEWHERE, Way, delete, named, walks
from tests.support.server import Server

COMPOSED = "key: 'Enter', bubbles: true, cancelable: true"


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return ask_each(ChatPage.open(window, server), "First", "Second")


def ask_each(chat: ChatPage, *questions: str) -> ChatPage:
    for count, text in enumerate(questions, 1):
        chat.ask(text)
        expect(chat.replies).to_have_count(count)
        chat.ended()
    return chat


def box(article: Locator) -> Locator:
    return article.get_by_role("textbox", name="Edit your message")


def opened(chat: ChatPage, at: int = 0) -> Locator:
    """The box of one question, opened."""
    MOUSE.press(named(chat.questions.nth(at), "Edit"))
    return box(chat.questions.nth(at))


@MOUSE_ELSEWHERE
def test_an_edit_makes_a_new_version_of_what_follows(window: Window, server: Server, way: Way) -> None:
    chat = ask_each(ChatPage.open(window, server, **way.window), "First", "Second")
    way.press(named(chat.questions.first, "Edit"))
    expect(box(chat.questions.first)).to_be_focused()
    expect(box(chat.questions.first)).to_have_value("First")
    chat.page.keyboard.type(" of all")
    if way.name == "finger":
        way.press(named(chat.questions.first, "Save and send"))
    else:
        chat.page.keyboard.press("Enter")
    expect(chat.questions).to_have_count(1)
    assert chat.ended() == "You said: First of all"
    walks(chat.questions.first, 2, 2)
    way.press(named(chat.questions.first, "Previous version"))
    expect(chat.questions).to_have_count(2)
    assert [text_of(each) for each in chat.questions.all()] == ["First", "Second"]
    walks(chat.questions.first, 1, 2)


def test_escape_cancels_an_edit_and_returns_the_focus(chat: ChatPage) -> None:
    opened(chat).fill("Never mind")
    chat.page.keyboard.press("Escape")
    expect(box(chat.questions.first)).to_have_count(0)
    expect(named(chat.questions.first, "Edit")).to_be_focused()
    assert text_of(chat.questions.first) == "First"
    expect(opened(chat)).to_have_value("First")


def test_an_edit_survives_a_reload_until_it_is_sent(chat: ChatPage) -> None:
    opened(chat).fill("First, but longer")
    for _ in range(6):
        chat.page.keyboard.press("ArrowLeft")
    chat.page.reload()
    edit = box(chat.questions.first)
    expect(edit).to_have_value("First, but longer")
    expect(edit).to_be_focused()
    chat.page.keyboard.type("much ")
    expect(edit).to_have_value("First, but much longer")
    chat.page.keyboard.press("Control+Enter")
    expect(box(chat.questions.first)).to_have_count(0)
    chat.page.wait_for_function("() => !Object.keys(localStorage).some(name => name.includes('edit-'))")


def test_an_edit_that_was_given_up_stays_so(chat: ChatPage) -> None:
    opened(chat).fill("Never mind")
    chat.page.reload()
    expect(box(chat.questions.first)).to_have_value("Never mind")
    named(chat.questions.first, "Cancel").click()
    chat.page.reload()
    expect(named(chat.questions.first, "Edit")).to_be_visible()
    expect(chat.page.locator(".edit")).to_have_count(0)
    assert "edit-" not in str(chat.page.evaluate("Object.keys(localStorage)"))


def test_an_edit_of_a_closed_tab_is_continued_and_removed(chat: ChatPage) -> None:
    tab = chat.another_tab()
    opened(tab).fill("Begun there")
    tab.page.close()
    edit = opened(chat)
    expect(edit).to_have_value("Begun there")
    chat.page.reload()
    expect(edit).to_have_value("Begun there")
    edit.press("Escape")
    expect(opened(chat)).to_have_value("First")


def test_signing_out_forgets_an_edit(chat: ChatPage) -> None:
    opened(chat).fill("a secret")
    form = chat.page.locator("#sign-out")
    form.evaluate("form => form.addEventListener('submit', (event) => event.preventDefault())")
    form.evaluate("form => form.requestSubmit()")  # the other tests go on in this session
    chat.page.goto("/settings/")  # what leaves the page keeps nothing either
    assert "secret" not in str(chat.page.evaluate("Object.values(localStorage)"))


def test_shift_enter_and_input_methods_do_not_send_an_edit(chat: ChatPage) -> None:
    edit = opened(chat)
    edit.press("Shift+Enter")
    edit.press_sequentially("more")
    for shape in ("isComposing: true", "keyCode: 229"):
        edit.evaluate(f"box => box.dispatchEvent(new KeyboardEvent('keydown', {{{COMPOSED}, {shape}}}))")
    expect(edit).to_have_value("First\nmore")
    edit.press("Escape")  # which takes the same way, behind them
    expect(edit).to_have_count(0)
    expect(named(chat.questions.first, "Edit")).to_be_focused()
    expect(chat.questions).to_have_count(2)


def test_a_blank_edit_is_not_sent(chat: ChatPage) -> None:
    edit = opened(chat)
    edit.fill("  \n ")
    named(chat.questions.first, "Save and send").click()
    expect(edit).to_be_focused()
    expect(chat.notice).to_be_empty()
    expect(chat.questions).to_have_count(2)


def test_an_edit_refused_in_a_busy_conversation_keeps_its_text(chat: ChatPage) -> None:
    tab = chat.another_tab()
    edit = opened(tab)
    edit.fill("Mine instead")
    with tab.unaware():
        chat.ask(question("words tokens=2000 delay=0.02"))
        chat.grown_to(30)
        edit.press("Enter")
        expect(tab.notice).to_contain_text("Another reply is still being written")
        expect(edit).to_have_value("Mine instead")
    chat.stop.click()
    chat.ended("stopped")
    tab.ended("stopped")
    edit.press("Enter")
    expect(tab.questions).to_have_count(1)
    assert tab.ended() == "You said: Mine instead"


def test_an_edit_of_a_deleted_conversation_is_refused_in_words(chat: ChatPage) -> None:
    tab = chat.another_tab()
    edit = opened(tab)
    edit.fill("Too late")
    delete(chat)
    edit.press("Enter")
    expect(tab.notice).not_to_be_empty()
    expect(edit).to_have_value("Too late")
    expect(edit).to_be_focused()


def test_a_late_rejection_does_not_steal_the_focus(chat: ChatPage) -> None:
    held: list[Route] = []
    chat.page.route("**/edit/*", lambda route: held.append(route))
    opened(chat).fill("Refused")
    with chat.page.expect_request("**/edit/*"):
        chat.page.keyboard.press("Control+Enter")
    expect(chat.box).to_be_focused()
    chat.page.keyboard.type("Meanwhile")
    held.pop().fulfill(status=404, json={"error": {"code": "not_found", "message": "Not this one."}})
    expect(chat.notice).to_have_text("Not this one.")
    expect(box(chat.questions.first)).to_have_value("Refused")
    chat.page.keyboard.type(" written")
    expect(chat.box).to_have_value("Meanwhile written")
