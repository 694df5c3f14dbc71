"""The windows of these tests: one test leaves nothing for the next."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.e2e.windows import Windows
from tests.support.server import Server

LEAVE = """async () => {
  localStorage.left = sessionStorage.left = document.cookie = 'left=1';
  await caches.open('left');
  await new Promise((resolve) => { indexedDB.open('left').onsuccess = resolve; });
}"""
LEFT = """async () => [
  localStorage.length, sessionStorage.length, document.cookie.includes('left'), (await caches.keys()).length,
  (await indexedDB.databases()).length, navigator.onLine, history.length,
  (await navigator.permissions.query({ name: 'geolocation' })).state]"""


@pytest.fixture
def lender(chromium: Browser) -> Iterator[Windows]:
    made = Windows(chromium)
    yield made
    made.take_back()
    made.close()


def test_the_next_test_finds_nothing_in_the_same_context(lender: Windows, server: Server) -> None:
    page = lender.open(server, "alice")
    context = page.context
    page.goto("/")
    before = page.evaluate(LEFT)
    page.evaluate(LEAVE)
    context.grant_permissions(["geolocation"])
    context.route("**/*", lambda route: route.abort())
    context.set_offline(True)
    assert page.evaluate(LEFT) != before
    assert lender.take_back() == []
    page = lender.open(server)
    assert page.context is context
    page.goto("/")
    assert page.url.startswith(f"{server.url}/accounts/login/")
    assert page.evaluate(LEFT) == [0, 0, False, 0, 0, True, before[-2], before[-1]]


def test_a_context_with_another_clock_is_not_lent_again(lender: Windows, server: Server) -> None:
    page = lender.open(server)
    page.clock.install()
    assert lender.take_back() == []
    assert lender.open(server).context is not page.context


def test_console_messages_fail_the_test(lender: Windows, server: Server) -> None:
    page = lender.open(server, "alice")
    page.goto("/")
    with page.context.expect_event("weberror"):
        page.evaluate("() => { setTimeout(() => { throw new Error('Oh') }) }")
    assert any("Oh" in error for error in lender.take_back())


def test_a_failure_can_say_what_the_windows_showed(lender: Windows, server: Server) -> None:
    page = lender.open(server, "alice", at="/")
    page.get_by_role("textbox", name="Your message").fill("Why?")
    shown = lender.shown()
    assert f"{server.url}/ shows" in shown
    assert "Why?" in shown
    assert "/static/js/" in shown
