"""The browser's work for a fast, long reply and for a long conversation, on a slow machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.chat_page import ChatPage
from tests.e2e.conftest import FLAGS
from tests.e2e.cpu_time import Effort
from tests.e2e.sample_texts import essay
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.people import SESSIONS
from tests.support.server import Server
from tests.tools.bench.table import Line, percentile

SLOWER = 4  # times
PACE = {"size": 40, "delay": 0.01}  # 1,000 tokens a second, of four letters each
KEY_EVERY = 250  # milliseconds
LONGEST = 120_000  # milliseconds that a reply may take here
BLOCKED_FROM = 50  # milliseconds: https://web.dev/articles/tbt

# Tasks and key presses as the browser times them.
TIMED = """(() => {
  const timed = (window.timed = { tasks: [], keys: [] });
  const watch = (type, take, more = {}) => {
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(take));
    observer.observe({ type, buffered: true, ...more });
  };
  watch('longtask', ({ duration }) => timed.tasks.push(duration));
  watch('event', ({ duration, interactionId }) => interactionId && timed.keys.push(duration), {
    durationThreshold: 16,
  });
})()"""


@contextmanager
def slow_page(browser: Browser, server: Server, slower: int = SLOWER) -> Iterator[Page]:
    """A tab of alice's on a machine that is so many times slower than this one."""
    context = browser.new_context(base_url=server.url, viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "sessionid", "value": SESSIONS["alice"], "url": server.url}])
    page = context.new_page()
    page.add_init_script(TIMED)
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    yield page
    context.close()


def blocked(tasks: list[float]) -> float:
    """Total blocking time, in milliseconds."""
    return sum(task - BLOCKED_FROM for task in tasks if task > BLOCKED_FROM)


def long_reply(browser: Browser, server: Server) -> list[Line]:
    """100 kB at 1,000 tokens a second, while somebody writes the next question."""
    with slow_page(browser, server) as page:
        page.goto("/")
        chat = ChatPage(page)
        chat.ask(f"Go on.\n{says_line(essay(100_000), **PACE)}")
        chat.reply.wait_for()
        page.evaluate("timed.tasks.length = timed.keys.length = 0")
        pressed = 0
        while chat.reply.get_attribute("data-status") in ("queued", "running"):
            chat.box.press("abcdefgh "[pressed % 9])
            page.wait_for_timeout(KEY_EVERY)
            pressed += 1
        tasks, keys = page.evaluate("[timed.tasks, timed.keys]")
    waits = [*([0.0] * max(0, pressed - len(keys))), *keys]  # those under 16 ms are not told
    return [
        Line("tasks over 50 ms", len(tasks), ""),
        Line("longest task", max(tasks, default=0.0), "ms", 100),
        Line("total blocking time", blocked(tasks), "ms", 250),
        Line(f"from a key to the screen, 98th percentile of {pressed}", percentile(waits, 0.98), "ms", 120),
    ]


def long_conversation(browser: Browser, server: Server, address: str) -> list[Line]:
    """The page of 200 messages, of which it shows the newest 50."""
    with slow_page(browser, server) as page:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        tasks = page.evaluate("timed.tasks")
    return [
        Line("longest task", max(tasks, default=0.0), "ms"),
        Line("total blocking time", blocked(tasks), "ms", 150),
    ]


def twice(browser: Browser, server: Server) -> list[Line]:
    """The work on 100 kB and on 200 kB, each in a tab of its own."""
    spent = []
    for times in (1, 2):
        with slow_page(browser, server, slower=1) as page:
            page.goto("/")
            chat = ChatPage(page)
            with Effort(page) as effort:
                chat.ask(f"Go on.\n{says_line(essay(100_000), size=100, delay=0.01, times=times)}")
                page.locator(".reply[data-status=complete]").wait_for(timeout=LONGEST)
            spent.append(effort.seconds)
    once, doubled = spent
    return [
        Line("script, style and layout of 100 kB", 1000 * once, "ms"),
        Line("the same of 200 kB, times that", doubled / once, "", 2.3),
    ]


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()
