"""The newest messages first, older ones when the reader comes near them, and nothing jumps."""

import time

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.seed import numbered, talk
from tests.support.server import Server

TOP_ONE = """() => {
  const bar = document.querySelector('.topbar').getBoundingClientRect().bottom;
  const articles = [...document.querySelectorAll('article')];
  const seen = articles.find((article) => article.getBoundingClientRect().bottom > bar + 40);
  return [seen.id, Math.round(seen.getBoundingClientRect().top)];
}"""
PLACE = "id => Math.round(document.getElementById(id).getBoundingClientRect().top)"
FIRST = "document.querySelector('article [data-part=text]').textContent"
LONGEST_TASK = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: 'longtask' });
}"""


# Two frames after what was added is in place, and may be skipped where it is far.
ADDED = """() => document.querySelector('.history-batch.offscreen') && new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))"""
COUNT = "document.querySelectorAll('article').length"
WHEEL = 60.0  # seconds; these machines are busy
FREEZE = 400  # milliseconds of one task, on a machine that is not busy
# The factor by which this machine is slower just now than one that does this sum in 60 ms; at least 1.
SLOWNESS = """() => {
  const begun = performance.now();
  let sum = 0;
  for (let n = 0; n < 2e7; n++) sum += Math.sqrt(n);
  return Math.max(1, sum && (performance.now() - begun) / 60);
}"""


@pytest.fixture(scope="module")
def address(server: Server) -> str:
    return talk(server, "alice", numbered(120))


@pytest.fixture
def chat(request: pytest.FixtureRequest, window: Window, server: Server, address: str) -> ChatPage:
    """Open a chat on a wide page, or as wide as the test says."""
    page = window(server, "alice", at=address, width=getattr(request, "param", 1280))
    return ChatPage(page)


def wheel_until(page: Page, count: int) -> None:
    """Turn the wheel upwards until so many messages are there."""
    deadline = time.monotonic() + WHEEL
    while page.evaluate(COUNT) < count:
        assert time.monotonic() < deadline, "older ones do not come"
        page.mouse.wheel(0, -2_000)
        page.wait_for_timeout(60)


def test_older_messages_load_without_moving_the_page(chat: ChatPage) -> None:
    chat.page.locator("article").first.scroll_into_view_if_needed()
    chat.page.mouse.move(350, 300)
    chat.page.mouse.wheel(0, 300)
    chat.page.wait_for_function("() => document.querySelectorAll('article').length >= 100")
    wheel_until(chat.page, 120)
    assert chat.page.evaluate(FIRST).startswith("Message 1.")
    expect(chat.page.locator(".older")).to_have_count(0)
    numbers = chat.page.evaluate(
        "[...document.querySelectorAll('article')].map((a) => a.textContent.match(/Message (\\d+)/)[1] * 1)"
    )
    assert numbers == list(range(1, 121))


@pytest.mark.parametrize("chat", [1280, 390], indirect=True)
def test_inserting_older_messages_moves_nothing_by_a_pixel(chat: ChatPage) -> None:
    held: list[Route] = []
    chat.page.route("**/*before=*", lambda route: held.append(route))
    chat.page.evaluate("scrollTo(0, 700)")
    while not held:
        chat.page.wait_for_timeout(100)
    seen, before = chat.page.evaluate(TOP_ONE)
    held[0].continue_()
    chat.page.wait_for_function("() => document.querySelectorAll('article').length >= 100")
    chat.page.wait_for_function(ADDED)
    assert abs(chat.page.evaluate(PLACE, seen) - before) <= 1


def test_the_older_link_works_by_keyboard(window: Window, server: Server, address: str) -> None:
    page = window(server, "alice")
    page.add_init_script("window.IntersectionObserver = class { observe() {} disconnect() {} };")
    page.goto(address)
    older = page.get_by_role("link", name="Earlier messages")
    expect(older).to_have_attribute("data-watched", "true")  # until then it is a link like any other
    older.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('article').length === 100")
    expect(older).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('article').length === 120")
    expect(page.locator("article").first).to_be_focused()
    assert "before" not in page.url


def test_a_page_that_did_not_come_is_asked_for_again_by_the_link(chat: ChatPage) -> None:
    failed: list[str] = []

    def fail(route: Route) -> None:
        failed.append(route.request.url)
        route.abort()

    chat.page.route("**/*before=*", fail)
    chat.page.evaluate("scrollTo(0, 0)")
    older = chat.page.get_by_role("link", name="Earlier messages")
    expect(older).to_have_attribute("data-failed", "true")
    chat.page.wait_for_timeout(300)
    assert len(failed) == 1
    chat.page.unroute_all()
    older.click()
    chat.page.wait_for_function("() => document.querySelectorAll('article').length >= 100")


def test_a_conversation_of_five_thousand_messages_is_fluent(window: Window, server: Server) -> None:
    page = window(server, "alice", at=talk(server, "alice", numbered(5_000)))
    chat = ChatPage(page)
    slowness = page.evaluate(SLOWNESS)
    page.evaluate(LONGEST_TASK)
    page.mouse.move(400, 300)
    for _ in range(60):
        page.mouse.wheel(0, -3_000)
        page.wait_for_timeout(30)
    wheel_until(page, 200)
    chat.box.press_sequentially("Still fluent?")
    longest = page.evaluate("window.longest")
    assert longest < FREEZE * max(slowness, page.evaluate(SLOWNESS))
    chat.box.press("Enter")
    assert chat.ended() == "You said: Still fluent?"
    expect(chat.reply).to_be_in_viewport()
