"""A reply as it streams, in Firefox and in WebKit."""

from collections.abc import Callable

import pytest

from tests.e2e.chat_page import question, words
from tests.engines.chat_page import ChatPage
from tests.engines.firefox import Firefox
from tests.engines.webkit import WebKit
from tests.support.server import Server
from tests.support.waiting import until

STOPPED_MILLISECONDS = 2_000
STORED = "SELECT coalesce(sum(length(text)), 0) FROM chat_runchunk"  # characters
PRESSED = "addEventListener('pointerdown', () => { window.pressed = performance.now(); }, true)"


def test_a_reply_appears_piece_by_piece(chat: ChatPage) -> None:
    chat.ask(question("words tokens=60 delay=0.03"))
    lengths = set()
    while chat.status != "complete":
        lengths.add(len(chat.texts[-1]))
    assert chat.ended() == words(60)
    assert len(lengths) >= 5


def test_a_reload_in_the_middle_loses_nothing(chat: ChatPage) -> None:
    chat.ask(question("words tokens=100 delay=0.03"))
    before = chat.grown_to(60)
    chat.browser.reload()
    after = chat.grown_to(len(before))
    assert words(100).startswith(after)
    assert chat.ended() == words(100)
    assert len(chat.texts) == 2


def test_stop_ends_a_reply_within_two_seconds(chat: ChatPage) -> None:
    chat.ask(question("words tokens=4000 delay=0.02"))
    chat.grown_to(40)
    chat.browser.evaluate(PRESSED)
    chat.browser.click("button", "Stop")
    text = chat.ended("stopped")
    assert chat.browser.evaluate("performance.now() - window.pressed") < STOPPED_MILLISECONDS
    assert words(4000).startswith(text)
    chat.ask("Go on with something else.")
    assert chat.ended() == "You said: Go on with something else."


@pytest.fixture
def restarted(
    window: Callable[..., ChatPage], engine: Firefox | WebKit, servers: Callable[..., Server]
) -> ChatPage:
    """A new chat on a server that no other test uses."""
    chat = window(engine, servers(), "alice")
    chat.goto()
    return chat


def test_a_stream_goes_on_after_its_server_was_killed(restarted: ChatPage) -> None:
    chat = restarted
    chat.ask(question("hang after=20"))
    seen = chat.grown_to(len(words(20)))
    until(lambda: chat.server.database.value(STORED) >= len(seen))
    chat.server.kill()
    chat.says("Connection lost. Reconnecting…")
    chat.server.start()
    assert chat.ended("interrupted") == seen == words(20)


def test_a_question_waits_for_a_server_that_restarts(restarted: ChatPage) -> None:
    chat = restarted
    assert chat.server.terminate() == 0
    chat.ask("Are you back?")
    chat.says("Not sent yet. Retrying…")
    chat.server.start()
    assert chat.ended() == "You said: Are you back?"
