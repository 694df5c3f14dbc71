"""Budgets of a page: bytes, requests, movement, announcements, work. Never milliseconds."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import ChatPage, Window
from tests.e2e.cpu_time import Effort
from tests.e2e.page_observers import BLOCKS
from tests.e2e.page_weight import visit
from tests.e2e.sample_texts import essay, everyday
from tests.e2e.seed import talk
from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Server

KB = 1_000
MAX_ELEMENTS = 1_100  # 60 of them are the menus of 20 messages


@pytest.fixture(scope="module")
def conversation(server: Server) -> str:
    """The address of one with 20 messages."""
    return talk(server, "alice", everyday(20))


def test_the_first_load_stays_within_its_budget(window: Window, server: Server, conversation: str) -> None:
    page = window(server, "alice")
    seen = visit(page, conversation)
    expect(page.locator("article.message")).to_have_count(20)
    requests = [(request.kind, request.path) for request in seen.fetched]
    assert 5 <= len(requests) <= 8, requests
    assert seen.bytes <= 40 * KB, seen.fetched
    assert 0 < seen.document.whole <= 20 * KB
    assert 0 < seen.bodies("Script") <= 13 * 1024
    assert 0 < seen.bodies("Stylesheet") <= 9 * 1024
    assert {request.url.startswith(server.url) for request in seen.fetched} == {True}
    assert "Font" not in {kind for kind, _ in requests}
    scripts = [request for request in seen.requests.values() if request.kind == "Script"]
    assert len(scripts) == 5
    # The page names each module itself.
    assert {request.begun_by for request in scripts} == {"parser"}, scripts
    assert page.evaluate("document.querySelectorAll('*').length") <= MAX_ELEMENTS
    again = visit(page, conversation)
    assert len(again.requests) > 1
    # The browser may ask for the icon after all else, and so after the first visit.
    late = [request for request in again.fetched if "/img/icon." in request.path]
    assert [request.kind for request in again.fetched if request not in late] == ["Document"]
    assert not late or late[0].path not in {path for _, path in requests}
    assert again.bytes <= 20 * KB


def test_finished_blocks_are_left_alone(chat: ChatPage) -> None:
    chat.ask(f"Go on.\n{says_line(essay(12_000), size=24, delay=0.01)}")
    chat.reply.wait_for()
    chat.page.evaluate(BLOCKS)
    chat.ended()
    seen = chat.page.evaluate("seen")
    assert seen["updates"] > 20
    assert seen["touched"] == []


def effort_of(window: Window, server: Server, length: int) -> float:
    """Seconds of work on a reply of so many characters, which comes at a steady pace."""
    chat = ChatPage.open(window, server, own=True)
    with Effort(chat.page) as effort:
        chat.asked(f"Go on.\n{says_line(essay(length), size=100, delay=0.01)}")
    chat.page.close()
    return effort.seconds


def good(ratios: list[float]) -> list[float]:
    return [ratio for ratio in ratios if ratio <= 2.8]


def test_twice_the_text_is_about_twice_the_work(window: Window, server: Server) -> None:
    """Exclude quadratic work: a page that renders everything again and again takes four times as long.

    The median of three measurements counts: two that are good decide it.
    """
    ratios: list[float] = []
    while len(ratios) < 3 and len(good(ratios)) < 2:
        once, twice = effort_of(window, server, 20_000), effort_of(window, server, 40_000)
        ratios.append(twice / once)
    assert len(good(ratios)) == 2, ratios
