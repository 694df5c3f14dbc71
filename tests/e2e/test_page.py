"""The chat page: asking, reading, stopping, trying again."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of, words
from tests.e2e.input_methods import reach
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

HOSTILE = """<img src=x onerror="alert('img')"><script>alert('script')</script></textarea>"""
KEPT = "Interrupted. What had arrived is saved."


@pytest.fixture
def chat(window: Window, server: Server) -> ChatPage:
    return ChatPage.open(window, server)


def test_a_question_is_shown_at_once_and_its_reply_grows(chat: ChatPage) -> None:
    text = question("words tokens=60 delay=0.03")
    chat.ask(text)
    assert text_of(chat.questions.last) == text
    first = chat.grown_to(20)
    assert chat.grown_to(len(first) + 20).startswith(first)
    chat.has_address()
    assert chat.ended() == words(60)
    expect(chat.page.get_by_role("link", name="Tell me something.")).to_have_attribute("aria-current", "page")
    expect(chat.box).to_have_value("")
    expect(chat.box).to_be_focused()


def test_late_scripts_leave_the_focus_alone(window: Window, server: Server) -> None:
    page = window(server, "alice")
    held: list[Route] = []
    page.route("**/js/chat*", lambda route: held.append(route))
    page.goto("/", wait_until="commit")
    reach(page.get_by_role("link", name="New chat"))
    page.wait_for_timeout(50)
    held.pop().continue_()
    page.wait_for_load_state()
    expect(page.get_by_role("link", name="New chat")).to_be_focused()


def test_the_facts_of_a_reply_are_the_same_after_a_reload(chat: ChatPage) -> None:
    chat.ask(question("words tokens=30 delay=0.01"))
    chat.ended()
    parts = (chat.reply.locator("[data-part=reply-meta]").text_content() or "").split(" · ")
    assert parts[1:2] == ["30 tokens"]
    assert parts[2].endswith(" s")
    chat.page.reload()
    expect(chat.reply.locator("[data-part=reply-meta]")).to_have_text(" · ".join(parts))


def test_stop_ends_a_reply_and_keeps_its_text(chat: ChatPage) -> None:
    chat.ask(question("words tokens=2000 delay=0.02"))
    chat.grown_to(30)
    chat.stop.click()
    stopped = chat.ended("stopped")
    expect(chat.reply.get_by_text("Stopped.")).to_be_visible()
    expect(chat.send).to_be_visible()
    chat.page.reload()
    assert chat.ended("stopped") == stopped


def test_a_reload_in_the_middle_loses_nothing(chat: ChatPage) -> None:
    chat.ask(question("words tokens=100 delay=0.03"))
    chat.grown_to(60)
    chat.page.reload()
    assert chat.ended() == words(100)


def test_a_second_tab_follows_and_stops(chat: ChatPage) -> None:
    chat.ask(question("words tokens=2000 delay=0.02"))
    chat.has_address()
    seen = chat.grown_to(40)
    tab = chat.another_tab()
    assert tab.grown_to(len(seen) + 40).startswith(seen)
    tab.stop.click()
    assert chat.ended("stopped") == tab.ended("stopped")


def test_a_question_to_a_busy_conversation_waits(chat: ChatPage) -> None:
    chat.ask("Hello")
    chat.ended()
    tab = chat.another_tab()
    with tab.unaware():
        chat.ask(question("words tokens=2000 delay=0.02"))
        chat.grown_to(30)
        tab.ask("Me too")
        expect(tab.notice).to_contain_text("Another reply is still being written")
        expect(tab.box).to_have_value("Me too")
    expect(tab.questions).to_have_count(2)
    tab.stop.click()
    assert chat.ended("stopped") == tab.ended("stopped")
    expect(tab.notice).to_be_empty()
    expect(tab.box).to_have_value("Me too")


def test_a_failed_reply_says_why_and_can_be_tried_again(chat: ChatPage, server: Server) -> None:
    chat.ask("Hello")
    chat.ended()
    chat.ask(question("flaky fails=1 code=5007 key=again"))
    chat.ended("failed")
    expect(chat.reply.locator("[data-part=status-text]")).to_contain_text("model")
    chat.page.get_by_role("button", name="Try again").click()
    assert chat.ended() == words(5)
    expect(chat.questions).to_have_count(2)
    chat.page.reload()
    assert [text_of(reply) for reply in chat.replies.all()] == ["You said: Hello", words(5)]
    runs = "SELECT status FROM chat_run JOIN chat_conversation c ON c.id = conversation_id"
    of_this = f" WHERE replace(lower(c.id), '-', '') = '{chat.page.url.split('/')[-2].replace('-', '')}'"
    assert sorted(server.database.rows(runs + of_this)) == [("complete",), ("complete",), ("failed",)]


@pytest.mark.parametrize(
    ("scenario", "status", "sentence", "text"),
    [
        ("length tokens=5", "truncated", "Cut off at the length limit.", words(5)),
        ("cut after=3", "interrupted", KEPT, words(3)),
        ("cut after=3 how=abrupt", "interrupted", "The connection to the model was lost", words(3)),
        ("instream_error after=3 code=3040", "failed", "", words(3)),
    ],
)
def test_an_end_that_is_no_good_one_is_said_and_stays_said(
    chat: ChatPage, scenario: str, status: str, sentence: str, text: str
) -> None:
    chat.ask(question(scenario))
    assert chat.ended(status) == text
    state = chat.reply.locator("[data-part=status-text]")
    expect(state).to_be_visible()
    expect(state).to_contain_text(sentence)
    state_text = (state.text_content() or "").strip()
    assert state_text
    chat.page.reload()
    expect(state).to_have_text(state_text)
    assert chat.ended(status) == text


def test_reasoning_is_folded_away_and_can_be_read(chat: ChatPage) -> None:
    chat.ask(question("reasoning think=5 tokens=5"))
    assert chat.ended() == words(5)
    thoughts = chat.reply.locator("[data-part=reasoning]")
    expect(thoughts).to_be_hidden()
    chat.reply.locator("[data-part=thinking]").click()
    expect(thoughts).to_have_text("thought1 thought2 thought3 thought4 thought5")


def test_the_enter_that_ends_a_composition_sends_nothing(chat: ChatPage) -> None:
    chat.box.fill("こんにち")
    enter = {"key": "Enter", "bubbles": True, "cancelable": True}
    chat.box.dispatch_event("keydown", {**enter, "isComposing": True})
    chat.box.dispatch_event("keydown", {**enter, "keyCode": 229})
    expect(chat.questions).to_have_count(0)
    expect(chat.box).to_have_value("こんにち")
    chat.box.dispatch_event("keydown", enter)
    expect(chat.questions).to_have_count(1)
    assert chat.ended() == "You said: こんにち"


def test_markup_in_a_question_or_a_reply_stays_text(chat: ChatPage) -> None:
    chat.ask(HOSTILE)
    assert chat.ended() == f"You said: {HOSTILE}"
    chat.page.reload()
    assert chat.ended() == f"You said: {HOSTILE}"
    assert text_of(chat.questions.last) == HOSTILE
    expect(chat.page.locator("#conversations a").first).to_have_text(HOSTILE)
    assert chat.page.locator("main :is(img, script), nav :is(img, script)").count() == 0


def test_a_draft_survives_a_reload_until_it_is_sent(chat: ChatPage) -> None:
    chat.box.fill("Not yet sent")
    chat.page.reload()
    expect(chat.box).to_have_value("Not yet sent")
    chat.box.press("Enter")
    chat.ended()
    chat.page.reload()
    expect(chat.box).to_have_value("")
    chat.page.goto("/")
    expect(chat.box).to_have_value("")


def test_the_page_reports_a_storage_outage_and_its_end(chat: ChatPage, server: Server) -> None:
    remark = chat.reply.locator("[data-part=remark]")
    chat.ask(question("words tokens=2000 delay=0.02"))
    chat.grown_to(20)
    server.database.rows("ALTER TABLE chat_runchunk RENAME TO away")
    try:
        expect(remark).to_contain_text("can’t be saved right now")
        expect(chat.page.locator("#status")).to_contain_text("can’t be saved right now")
        chat.grown_to(len(chat.text) + 20)
        expect(remark).to_contain_text("can’t be saved right now")
    finally:
        server.database.rows("ALTER TABLE away RENAME TO chat_runchunk")
    expect(remark).to_be_empty()
    chat.stop.click()
    seen = chat.ended("stopped")
    chat.page.reload()
    assert chat.ended("stopped") == seen


@pytest.mark.parametrize(
    "text",
    ["| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200, "- **Bold** words\n" * 200, "> A quotation.\n" * 200],
    ids=["table", "list", "quotation"],
)
def test_a_growing_reply_is_marked_below_its_last_block(chat: ChatPage, text: str) -> None:
    dot = "(reply) => getComputedStyle(reply.querySelector('.prose'), '::after').content"
    chat.ask(f"Go on.\n{says_line(text, size=20, delay=0.05)}")
    chat.grown_to(20)
    assert chat.reply.evaluate(dot) == '""'
    chat.stop.click()
    chat.ended("stopped")
    assert chat.reply.evaluate(dot) == "none"
