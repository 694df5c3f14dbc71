"""Every state a reply can be in, and the keys of the message box."""

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.chat_page import ChatPage, question, text_of, words
from tests.support.server import Server

RUN = "11111111-1111-4111-8111-111111111111"
IDS = {
    "conversation": "c" * 8 + "-cccc-4ccc-8ccc-" + "c" * 12,
    "message": "d" * 8 + "-dddd-4ddd-8ddd-" + "d" * 12,
}
IDS |= {
    "user_message": "e" * 8 + "-eeee-4eee-8eee-" + "e" * 12,
    "run": RUN,
    "model": "@cf/zai-org/glm-4.7-flash",
}
OPENS = {"Content-Type": "text/event-stream", "X-Run-Id": RUN}


WIDTHS = pytest.mark.parametrize("chat", [1280, 390], indirect=True)  # where it depends on the layout


def frame(event: str = "message", at: str = "", **payload: object) -> str:
    data = json.dumps({"response": "", **payload})
    return f"event: {event}\n" + (f"id: {at}\n" if at else "") + f"data: {data}\n\n"


def plays(page: Page, *frames: str) -> None:
    """The next question is answered with exactly these frames."""
    body = frame("meta", **IDS) + "".join(frames)
    page.route(
        re.compile(r"/c/(\S+/messages/)?\?html=1"),
        lambda route: route.fulfill(status=200, headers=OPENS, body=body),
    )


DONE = frame("done", "9!", status="complete", finish_reason="stop") + "data: [DONE]\n\n"


def blocks(chat: ChatPage) -> list[str]:
    found: list[str] = chat.reply.locator("[data-part=text]").evaluate(
        "text => [...text.children].map((it) => it.querySelector('code')?.textContent ?? it.innerHTML)"
    )
    return found


FENCE = '<figure class="code"><figcaption></figcaption><pre><code>a</code></pre></figure>'


PATCHES: list[tuple[list[list[object]], list[str]]] = [
    ([[0, "<p>a</p>"], [1, "<p>b</p>"]], ["a", "b"]),
    ([[0, "<p>a</p>"], [0, "<p>b</p>"]], ["b"]),
    ([[0, FENCE], [0, None, "\nb <i>"], [0, None, "c"]], ["a\nb <i>c"]),
    ([[0, "<p>a</p>"], [1, "<p>b</p>"], [2, "<p>c</p>"], [1, ""], [2, ""]], ["a"]),
    ([[0, "<p>a</p>"], [1, "<p>b</p>"], [0, "<p>c</p>"]], ["c", "b"]),
]


def test_each_patch_changes_its_block_only(chat: ChatPage) -> None:
    for patches, expected in PATCHES:
        together = frame(at="1", response="x", html=patches)
        one_by_one = "".join(frame(at=str(n), response="x", html=[patch]) for n, patch in enumerate(patches))
        for frames in (together, one_by_one):
            plays(chat.page, frames, DONE)
            chat.asked("Hello")
            assert blocks(chat) == expected, patches
            chat.page.unroute_all()
            chat.page.goto("/")


def test_done_puts_late_corrections_in_and_reset_starts_anew(chat: ChatPage) -> None:
    old = frame(at="1", response="x", html=[[0, "<p>old</p>"], [1, "<p>old too</p>"]])
    new = frame(at="2", response="x", html=[[0, "<p>new</p>"]])
    done = frame("done", "9!", status="complete", html=[[0, "<p>corrected</p>"]]) + "data: [DONE]\n\n"
    plays(chat.page, old, frame("reset"), new, done)
    chat.asked("Hello")
    assert blocks(chat) == ["corrected"]


def test_a_reset_after_which_nothing_comes_leaves_nothing(chat: ChatPage) -> None:
    plays(chat.page, frame(at="1", response="x", html=[[0, "<p>old</p>"]]), frame("reset"), DONE)
    chat.asked("Hello")
    assert blocks(chat) == []


def test_thinking_is_counted_while_it_lasts_and_said_afterwards(chat: ChatPage, server: Server) -> None:
    chat.ask(question("reasoning think=40 tokens=5 delay=0.04"))
    thinking = chat.reply.locator("[data-part=thinking]")
    expect(thinking).to_have_text(re.compile(r"Thinking… \d s"))
    expect(thinking).to_have_text(re.compile(r"Thinking… [1-9] s"))
    assert chat.reply.locator(".waiting").is_hidden()
    expect(chat.reply.locator("details.thoughts")).not_to_have_attribute("open", "")
    expect(thinking).to_have_text(re.compile(r"Thought for (1\.[5-9]|[2-9]\.\d|\d\d\.\d) s"))
    chat.ended()
    thinking_text = thinking.text_content()
    chat.page.reload()
    expect(thinking).to_have_text(thinking_text or "")
    server.database.rows("UPDATE chat_run SET first_text_at = first_token")
    chat.page.reload()
    expect(thinking).to_have_text("Reasoning")  # not that it took 0.0 seconds


def test_thinking_too_short_to_count_shows_no_time(chat: ChatPage) -> None:
    thought = frame(at="1", reasoning="Hm.", html=[])
    done = frame("done", "9!", status="complete", finish_reason="stop", thinking_seconds=0.0)
    plays(chat.page, thought, frame(at="2", response="x", html=[[0, "<p>x</p>"]]), done, "data: [DONE]\n\n")
    chat.page.evaluate("performance.now = () => (globalThis.time = (globalThis.time ?? 0) + 700)")
    chat.asked("Hello")
    expect(chat.reply.locator("[data-part=thinking]")).to_have_text("Reasoning")


# The display of the wait at the moment at which its reply comes into the page.
AT_ONCE = """() => {
  new MutationObserver(() => {
    const waiting = document.querySelector('.reply .waiting');
    if (waiting) window.atOnce ??= getComputedStyle(waiting).visibility;
  }).observe(document.getElementById('thread'), { childList: true });
}"""


def test_a_wait_is_shown_after_a_moment_and_not_at_once(chat: ChatPage) -> None:
    chat.page.evaluate(AT_ONCE)
    chat.ask(question("words tokens=3 first=3"))
    waiting = chat.reply.locator(".waiting")
    assert chat.page.evaluate("atOnce") == "hidden"
    expect(waiting).to_be_visible()
    assert chat.ended() == words(3)
    expect(waiting).to_be_hidden()


@WIDTHS
def test_the_reply_meta_does_not_move_the_last_line(chat: ChatPage) -> None:
    chat.ask(question("words tokens=40 delay=0.03"))
    chat.grown_to(40)
    height = "[...document.querySelectorAll('.reply')].at(-1).querySelector('.message-footer').offsetHeight"
    before = chat.page.evaluate(height)
    chat.ended()
    expect(chat.reply.locator("[data-part=reply-meta]")).to_contain_text("40 tokens")
    assert chat.page.evaluate(height) == before > 0


def test_escape_stops_and_arrow_up_edits_the_last_question(chat: ChatPage) -> None:
    chat.ask(question("words tokens=2000 delay=0.02"))
    chat.grown_to(20)
    chat.box.press("x")
    chat.box.press("Escape")
    chat.ended("stopped")
    expect(chat.box).to_have_value("x")
    chat.box.press("ArrowUp")
    expect(chat.page.locator(".edit")).to_have_count(0)
    chat.box.fill("")
    chat.box.press("ArrowUp")
    expect(chat.page.locator(".edit textarea")).to_be_focused()


def test_escape_during_a_composition_does_not_stop(chat: ChatPage) -> None:
    chat.ask(question("words tokens=100 delay=0.02"))
    chat.grown_to(20)
    chat.box.dispatch_event("keydown", {"key": "Escape", "isComposing": True, "bubbles": True})
    assert chat.ended() == words(100)


@pytest.mark.parametrize(
    ("status", "seconds", "sentence"), [(409, None, "It has changed."), (429, 23, "Slow down.")]
)
def test_a_rejected_question_is_back_in_the_box(
    chat: ChatPage, status: int, seconds: int | None, sentence: str
) -> None:
    def refuse(route: Route) -> None:
        error = {"code": "c", "message": sentence} | ({"retry_after": seconds} if seconds else {})
        headers = {"Retry-After": str(seconds)} if seconds else {}
        route.fulfill(status=status, json={"error": error}, headers=headers)

    chat.page.route(re.compile(r"/c/\?html=1"), refuse)
    chat.ask("Hello")
    expect(chat.notice).to_contain_text(sentence)
    expect(chat.box).to_have_value("Hello")
    expect(chat.questions).to_have_count(0)
    expect(chat.replies).to_have_count(0)
    if seconds:
        fewer = "|".join(str(left) for left in range(1, seconds - 1))
        expect(chat.notice).to_contain_text(re.compile(rf"You can send again in ({fewer}) s\."))


def test_the_countdown_removes_the_notice_at_its_end(chat: ChatPage) -> None:
    chat.page.clock.install()
    error = {"code": "throttled", "message": "Slow down.", "retry_after": 30}
    chat.page.route(
        re.compile(r"/c/\?html=1"), lambda route: route.fulfill(status=429, json={"error": error})
    )
    chat.ask("Hello")
    expect(chat.notice).to_contain_text(re.compile(r"You can send again in (30|[12]\d) s\."))
    chat.page.clock.run_for(31_000)
    expect(chat.notice).to_be_empty()


def test_only_boundaries_are_announced(chat: ChatPage) -> None:
    chat.page.evaluate("""() => {
      window.told = [];
      const status = document.getElementById('status');
      new MutationObserver(() => window.told.push(status.textContent)).observe(status, { childList: true });
    }""")
    assert chat.asked(question("reasoning think=20 tokens=200 delay=0.005")) == words(200)
    assert text_of(chat.questions.last).startswith("Tell me")
    expect(chat.reply).to_have_attribute("aria-busy", "false")
    assert chat.page.evaluate("window.told.filter(Boolean)") == [
        "GLM 4.7 Flash is replying",
        "The reply is finished",
    ]
    assert chat.page.locator("[aria-live], [role=log]").count() == 0
