"""A hidden tab closes its connection, because on HTTP/1.1 all tabs of a site share six."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect
from playwright.sync_api import TimeoutError as Unanswered

from tests.conftest import missing
from tests.e2e.chat_page import ChatPage, question, words
from tests.e2e.conftest import FLAGS, PATIENCE
from tests.support.people import SESSIONS
from tests.support.server import Server
from tests.support.waiting import until

STARTS = 60.0  # seconds
TRIES = 3
READY = 30.0  # seconds
LISTENING = re.compile(r"DevTools listening on (\S+)")


@pytest.fixture
def tabs(playwright: Playwright, server: Server, tmp_path: Path) -> Iterator[BrowserContext]:
    """A browser as people have it: Playwright's own ones make every tab believe that it is in front."""
    expect.set_options(timeout=PATIENCE)
    with ExitStack() as stack:
        browser = opened(playwright, tmp_path, stack)
        context = browser.contexts[0]
        context.add_cookies([{"name": "sessionid", "value": SESSIONS["alice"], "url": server.url}])
        yield context
        browser.close()


def opened(playwright: Playwright, folder: Path, stack: ExitStack) -> Browser:
    """One in some dozens takes the connection and never answers: another one then."""
    path = shutil.which("chromium")
    if path is None:
        missing("Chromium", "install the package chromium")
    for number in range(TRIES):
        log_file = folder / f"chromium-{number}.log"
        own = ["--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder / str(number)}"]
        log = stack.enter_context(log_file.open("wb"))
        process = subprocess.Popen([path, *FLAGS, *own, "about:blank"], stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        with suppress(Unanswered):
            return playwright.chromium.connect_over_cdp(address(log_file), no_defaults=True)
    pytest.fail("Chromium does not answer")


def address(log_file: Path) -> str:
    deadline = time.monotonic() + STARTS
    while not (found := LISTENING.search(log_file.read_text())):
        assert time.monotonic() < deadline, log_file.read_text()
        time.sleep(0.05)
    return found[1]


def test_a_hidden_tab_lets_go_and_comes_back_to_the_whole_text(tabs: BrowserContext, server: Server) -> None:
    page = tabs.new_page()
    page.clock.install()
    page.goto(server.url)
    chat = ChatPage(page)
    chat.ask(question("words tokens=400 delay=0.02"))
    chat.grown_to(60)
    let_go = []
    page.on("requestfailed", lambda request: let_go.append(request.url))

    tabs.new_page().bring_to_front()
    page.wait_for_function("document.hidden", polling=50)
    assert not let_go
    with page.expect_event("requestfailed"):
        page.clock.fast_forward(11_000)
    assert [url.removeprefix(server.url) for url in let_go] == ["/c/?html=1"]
    seen = chat.text
    page.wait_for_timeout(500)
    assert chat.text == seen != words(400)
    assert not page.title().startswith("●")
    until(lambda: page.clock.fast_forward(10_500) or page.title().startswith("●"), READY)

    page.bring_to_front()
    expect(page).not_to_have_title(re.compile("●"))
    expect(chat.reply).to_have_attribute("data-status", "complete")
    assert chat.text == words(400)


def test_a_visible_again_tab_shows_other_turns(tabs: BrowserContext, server: Server) -> None:
    page = tabs.new_page()
    page.goto(server.url)
    chat = ChatPage(page)
    chat.asked(question("words tokens=3 delay=0"))
    tabs.new_page().bring_to_front()
    page.wait_for_function("document.hidden", polling=50)
    conversation = page.url.rstrip("/").split("/")[-1]
    server.person("alice").asked(
        question("words tokens=4 delay=0", "Elsewhere"), f"/c/{conversation}/messages/"
    )
    expect(chat.questions).to_have_count(1)
    page.bring_to_front()
    expect(chat.questions).to_have_count(2)
    expect(chat.questions.last).to_contain_text("Elsewhere")
    assert chat.ended() == words(4)
