"""One server, one foreign server, and windows in which nothing may run and from which nothing may leave."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.e2e.conftest import launched
from tests.e2e.fonts import DEJAVU
from tests.safety.browser_watch import Watch
from tests.safety.spy import Spy, listening
from tests.support.module_server import database, fake, server
from tests.support.server import Server


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """For one file only: Django's database, which other files here use, refuses work beside an event loop."""
    folder = tmp_path_factory.mktemp("fonts")
    with sync_playwright() as playwright, launched(playwright, DEJAVU, folder) as browser:
        yield browser


@pytest.fixture(scope="module")
def spy() -> Iterator[Spy]:
    with listening() as heard:
        yield heard


@pytest.fixture
def watched(chromium: Browser, server: Server, spy: Spy) -> Iterator[Callable[[str], Watch]]:
    """Open a window for somebody; at the end nothing must have happened in any of them."""
    windows: list[Watch] = []

    def open_window(name: str) -> Watch:
        windows.append(Watch(chromium, server, name))
        return windows[-1]

    yield open_window
    for each in windows:
        each.close()
    assert [each.problems for each in windows] == [[] for _ in windows]
    assert spy.calls == []
