"""The chat page: asking, reading, stopping, trying again."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.chat_page import ChatPage, Window, question, text_of, words
from tests.e2e.input_methods import reach
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

HOSTILE = """<img src=x onerror="alert('img')"><script>alert('script')</script></textarea>"""
KEPT = "Interrupted. What had arrived is saved."


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


def test_a_question_waits_for_the_scripts_that_send_it(window: Window, server: Server) -> None:
    page = window(server, "alice")
    held: list[Route] = []
    page.route("**/js/turns.*", lambda route: held.append(route))
    chat = ChatPage(page)
    with page.expect_request("**/js/turns.*"):  # for the first key, or 1.5 s after the page was loaded
        page.goto("/")
        chat.box.press_sequentially("Too early?")
    for _ in range(2):
        chat.box.press("Enter")
    expect(chat.stop).to_be_visible()
    expect(chat.box).to_have_value("Too early?")
    expect(chat.questions).to_have_count(0)
    with page.expect_request("**/js/turns.*"):  # after a reload, as the server answers
        held.pop().abort()
    expect(chat.stop).to_be_visible()
    held.pop().abort()
    expect(chat.notice).to_have_text("Not sent yet. Retrying…")
    expect(chat.box).to_have_value("Too early?")
    page.unroute_all()
    expect(chat.questions).to_have_count(1)
    assert chat.ended() == "You said: Too early?"
    expect(chat.notice).to_be_empty()


def test_a_reload_in_the_middle_loses_nothing(chat: ChatPage) -> None:
    chat.ask(question("words tokens=100 delay=0.03"))
    chat.grown_to(60)
    chat.page.reload()
    assert chat.ended() == words(100)


def test_a_reply_is_followed_after_a_script_was_lost(chat: ChatPage) -> None:
    chat.ask(question("words tokens=4000 delay=0.05"))
    chat.grown_to(60)
    chat.page.route("**/js/turns.*", lambda route: route.abort(), times=1)
    chat.page.reload()
    chat.grown_to(len(chat.text) + 100)
    chat.stop.click()
    chat.ended("stopped")


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
    assert chat.asked(question(scenario), status) == text
    state = chat.reply.locator("[data-part=status-text]")
    expect(state).to_be_visible()
    expect(state).to_contain_text(sentence)
    state_text = (state.text_content() or "").strip()
    assert state_text
    chat.page.reload()
    expect(state).to_have_text(state_text)
    assert chat.ended(status) == text


def test_markup_in_a_question_or_a_reply_stays_text(chat: ChatPage) -> None:
    assert chat.asked(HOSTILE) == f"You said: {HOSTILE}"
    chat.page.reload()
    assert chat.ended() == f"You said: {HOSTILE}"
    assert text_of(chat.questions.last) == HOSTILE
    expect(chat.page.locator("#conversations a").first).to_have_text(HOSTILE)
    assert chat.page.locator("main :is(img, script), nav :is(img, script)").count() == 0


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
