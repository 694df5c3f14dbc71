"""An open page learns what was done elsewhere, and does not disturb reading or writing on it."""

import re
from contextlib import ExitStack

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import READY, STATE, ChatPage, Window, question, text_of, words
from tests.e2e.input_methods import named
from tests.e2e.page_observers import stands
from tests.support.server import Person, Server

SELECTED = "getSelection().toString()"


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    """One finished turn."""
    made = ChatPage.open(window, server)
    made.asked(question("words tokens=60 delay=0", "The first question"))
    made.has_address()
    return made


@pytest.fixture
def elsewhere(server: Server) -> Person:
    """The same person on another device."""
    return server.person("alice")


def path(chat: ChatPage, what: str = "messages/") -> str:
    return re.sub(r"^.*(/c/[^/]+/).*$", r"\1", chat.page.url) + what


def messages(chat: ChatPage) -> list[str]:
    return [text_of(article).split("\n")[0] for article in chat.page.locator("article.message").all()]


def ask_elsewhere(
    chat: ChatPage, person: Person, text: str, scenario: str = "words tokens=3 delay=0"
) -> None:
    person.asked(question(scenario, text), path(chat))


def test_a_turn_made_on_another_device_appears_with_its_question(chat: ChatPage, elsewhere: Person) -> None:
    ask_elsewhere(chat, elsewhere, "The second question")
    expect(chat.questions).to_have_count(2)
    assert messages(chat) == ["The first question", words(60), "The second question", words(3)]
    expect(chat.notice).to_be_empty()


def test_a_reply_from_another_tab_is_followed(chat: ChatPage, elsewhere: Person) -> None:
    with elsewhere.ask(question("words tokens=2000 delay=0.02", "The second question"), path(chat)) as stream:
        stream.until(5)
        expect(chat.questions).to_have_count(2)
        first = len(chat.grown_to(10))
        chat.grown_to(first + 40)
        chat.stop.click()
        stream.to_end()
    assert chat.ended("stopped") == stream.text
    assert messages(chat)[2] == "The second question"


def test_nothing_typed_edited_selected_or_read_is_disturbed(chat: ChatPage, elsewhere: Person) -> None:
    chat.asked(question("words tokens=900 delay=0", "A long one"))
    named(chat.questions.first, "Edit").click()
    edit = chat.questions.first.get_by_role("textbox")
    edit.fill("Being edited")
    chat.page.evaluate("scrollTo(0, 40)")
    chat.page.evaluate("""() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('article.reply [data-part=text]').firstElementChild);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }""")
    chat.box.evaluate("(box) => (box.value = 'Half a sentence')")
    chosen, top = chat.page.evaluate(SELECTED), chat.page.evaluate("scrollY")
    ask_elsewhere(chat, elsewhere, "The third question")
    expect(chat.questions).to_have_count(3)
    assert chat.page.evaluate(SELECTED) == chosen != ""
    assert chat.page.evaluate("scrollY") == top
    expect(edit).to_have_value("Being edited")
    expect(chat.box).to_have_value("Half a sentence")


def test_an_open_edit_survives_a_new_branch_elsewhere(chat: ChatPage, elsewhere: Person) -> None:
    named(chat.questions.first, "Edit").click()
    edit = chat.questions.first.get_by_role("textbox")
    edit.fill("Being edited")
    key = chat.questions.first.get_attribute("data-message")
    elsewhere.started(f"/messages/{key}/edit/", content="Another first question")
    expect(chat.notice).to_contain_text("changed elsewhere")
    expect(edit).to_have_value("Being edited")
    named(chat.questions.first, "Cancel").click()
    expect(chat.questions.first).to_contain_text("Another first question")
    expect(chat.notice).to_be_empty()


def test_a_turn_that_was_missed_is_put_in_before_ones_own(chat: ChatPage, elsewhere: Person) -> None:
    with chat.unaware():
        ask_elsewhere(chat, elsewhere, "The second question")
        for text in ("The third question", "The fourth question"):
            chat.asked(question("words tokens=4 delay=0", text))
        assert len(messages(chat)) == 6
    # After so many refusals the page asks again within 15 seconds only.
    expect(chat.questions).to_have_count(4, timeout=60_000)
    assert messages(chat)[2:] == [
        "The second question",
        words(3),
        "The third question",
        words(4),
        "The fourth question",
        words(4),
    ]


def test_a_busy_conversation_shows_the_live_reply(chat: ChatPage, elsewhere: Person) -> None:
    with ExitStack() as stack:
        # A page that knows of their reply would let the message wait in its queue.
        with chat.unaware():
            theirs = question("words tokens=2000 delay=0.02", "Theirs")
            it = stack.enter_context(elsewhere.ask(theirs, path(chat)))
            it.until(5)
            chat.ask("Mine")
            expect(chat.notice).to_contain_text("Another reply is still being written")
            expect(chat.box).to_have_value("Mine")
        expect(chat.questions).to_have_count(2)
        chat.grown_to(20)
        expect(chat.notice).to_contain_text("Another reply is still being written")
        assert messages(chat)[2] == "Theirs"
        chat.stop.click()
        it.to_end()
    chat.ended("stopped")
    expect(chat.notice).to_be_empty()
    expect(chat.box).to_have_value("Mine")


def test_another_version_and_more_of_a_reply_take_its_place(chat: ChatPage, elsewhere: Person) -> None:
    first = chat.reply.get_attribute("data-message")
    stream = elsewhere.started(f"/messages/{first}/regenerate/")
    expect(chat.reply).to_have_attribute("data-message", stream.meta["message"])
    expect(chat.reply.locator(".versions")).to_contain_text("2/2")
    assert elsewhere.post(f"/messages/{first}/select/", {}).status_code == 200
    expect(chat.reply).to_have_attribute("data-message", str(first))
    ask_elsewhere(chat, elsewhere, "Cut", "length tokens=20")
    chat.ended("truncated")
    stream = elsewhere.started(f"/messages/{chat.reply.get_attribute('data-message')}/continue/")
    expect(chat.reply).to_have_attribute("data-run", stream.run)
    kept = chat.text
    chat.page.reload()
    assert chat.text == kept


def test_a_new_title_and_a_deletion_are_told(chat: ChatPage, elsewhere: Person) -> None:
    elsewhere.post(path(chat, "rename/"), {"title": "Another title"})
    expect(chat.page).to_have_title("Another title")
    expect(chat.page.locator("h1")).to_have_text("Another title")
    elsewhere.post(path(chat, "delete/"))
    expect(chat.notice).to_contain_text("This chat has been deleted.")
    elsewhere.post(path(chat, "undelete/"))
    expect(chat.notice).to_be_empty()
    elsewhere.post(path(chat, "delete/"))
    chat.notice.get_by_role("link").click()
    expect(chat.page.get_by_role("button", name="Undo")).to_be_visible()


def test_a_page_where_nothing_happens_fetches_nothing(chat: ChatPage) -> None:
    listed = chat.page.locator("#sidebar [aria-current=page]")
    expect(listed).to_have_text("The first question")  # the modules of the sidebar have been loaded
    with chat.page.expect_response(STATE, timeout=30_000):
        pass
    heard: list[tuple[str, int]] = []
    chat.page.on("response", lambda response: heard.append((response.url.split("/")[-2], response.status)))
    for _ in range(3):
        with chat.page.expect_response(STATE):
            pass
    assert set(heard) - {("seen", 200)} == {("state", 304)}


def test_two_tabs_of_a_browser_show_the_same(chat: ChatPage) -> None:
    second = chat.another_tab()
    with second.page.expect_response(STATE):
        pass
    chat.asked(question("words tokens=40 delay=0", "The second question"))
    expect(second.questions).to_have_count(2)
    second.ended()
    assert messages(second) == messages(chat)


def test_the_place_is_kept_from_the_first_movement_on(chat: ChatPage) -> None:
    chat.asked(question("words tokens=600 delay=0", "The second question"))
    # Prevent the check that the page makes 1.5 seconds after it was loaded.
    chat.page.add_init_script(
        "const later = setTimeout; setTimeout = (f, ms) => ms === 1500 ? 0 : later(f, ms)"
    )
    chat.page.reload()
    chat.page.mouse.move(700, 400)
    chat.page.mouse.wheel(0, -300)
    expect(chat.page.locator(READY)).to_be_attached()
    chat.page.wait_for_function("() => scrollY < document.documentElement.scrollHeight - innerHeight - 250")
    before = stands(chat.page)
    assert before > 0
    chat.page.reload()
    chat.page.wait_for_function("(place) => Math.abs(scrollY - place) <= 2", arg=before)
