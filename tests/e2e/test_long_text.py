"""A text of 199,000 characters, as people paste it: written on, sent, folded, printed."""

from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window, question
from tests.e2e.cpu_time import Effort
from tests.e2e.seed import talk
from tests.support.server import Server

WORDS = "word " * 39_800  # without a line break, which is the hardest to lay out
KEYS = 10
HEIGHT = "text => text.getBoundingClientRect().height"


def test_a_key_behind_a_long_paste_costs_little(chat: ChatPage) -> None:
    chat.box.fill(WORDS)
    chat.box.press("End")
    chat.page.wait_for_timeout(500)
    with Effort(chat.page) as effort:
        for key in "abcdefghij":
            chat.box.press(key)
            chat.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert effort.seconds / KEYS < 0.05


def test_a_long_text_keeps_the_direction_that_it_has(chat: ChatPage) -> None:
    chat.box.press_sequentially("ש")
    expect(chat.box).to_have_attribute("dir", "auto")
    chat.box.evaluate("""(box) => {
      box.value = 'שלום '.repeat(5_000);
      box.dispatchEvent(new Event('input', { bubbles: true }));
    }""")
    expect(chat.box).to_have_attribute("dir", "rtl")
    chat.box.fill("Hello")
    expect(chat.box).to_have_attribute("dir", "auto")


def test_a_long_question_is_folded_and_unfolds(chat: ChatPage) -> None:
    chat.asked(question("words tokens=3", WORDS))
    text = chat.questions.locator("[data-part=text]")
    more = chat.questions.locator("summary", has_text="Show more")
    for _ in range(2):
        assert text.evaluate(HEIGHT) < 400
        more.focus()
        chat.page.keyboard.press("Enter")
        assert text.evaluate(HEIGHT) > 10_000
        chat.questions.get_by_text("Show less").click()
        assert text.evaluate(HEIGHT) < 400
        chat.page.reload()


def test_a_short_question_has_nothing_to_unfold(chat: ChatPage) -> None:
    chat.asked("Hello")
    expect(chat.questions.get_by_text("Show more")).to_be_hidden()
    chat.page.reload()
    expect(chat.questions.get_by_text("Show more")).to_have_count(0)


def test_a_folded_question_is_printed_whole(window: Window, server: Server) -> None:
    page = window(server, "alice", at=talk(server, "alice", ["A line.\n" * 100, "Yes."]))
    text = page.locator(".question [data-part=text]")
    assert text.evaluate(HEIGHT) < 400
    page.emulate_media(media="print")
    assert text.evaluate(HEIGHT) > 2_000
    expect(page.get_by_text("Show more")).to_be_hidden()


def test_a_link_to_a_text_reaches_a_folded_question(window: Window, server: Server) -> None:
    """The browser scrolls to it as to what is found in the page."""
    page = window(server, "alice")
    address = talk(server, "alice", ["A line.\n" * 100 + "The needle.", "Yes."])
    page.goto(f"{address}#:~:text=The%20needle")
    page.wait_for_function("() => document.querySelector('.question [data-part=text]').scrollTop > 0")
