"""Firefox and WebKit: each is started once for the files of this folder, and opens a window for each test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.e2e.sidebar_page import drop
from tests.engines import firefox, webkit
from tests.engines.browser import Browser
from tests.engines.chat_page import ChatPage
from tests.engines.firefox import Firefox
from tests.engines.webkit import WebKit
from tests.support.module_server import database, fake, server
from tests.support.people import SESSIONS
from tests.support.server import Server

STARTED = {"firefox": firefox.started, "webkit": webkit.started}
WIDE, PHONE = (1280, 800), (390, 800)  # CSS pixels


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/engines/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package", params=STARTED)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="package")
def engine(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox | WebKit]:
    with STARTED[name](tmp_path_factory.mktemp(name)) as started:
        yield started


@pytest.fixture
def window() -> Iterator[Callable[..., ChatPage]]:
    """Open a window: `window(engine, server, "alice", size=PHONE)`. Fails on errors in its console."""
    with ExitStack() as stack:
        opened: list[Browser] = []

        def open_window(
            engine: Firefox | WebKit, server: Server, person: str = "", size: tuple[int, int] = WIDE
        ) -> ChatPage:
            browser = engine.window()
            stack.callback(browser.close)
            opened.append(browser)
            browser.resize(*size)
            if person:
                browser.set_cookie(server.url, "sessionid", SESSIONS[person])
            return ChatPage(browser, server)

        yield open_window
        assert [error for browser in opened for error in browser.errors()] == []


@pytest.fixture
def chat(window: Callable[..., ChatPage], engine: Firefox | WebKit, server: Server) -> ChatPage:
    """Open a new chat of alice, who has no other."""
    drop(server.database, "alice")
    page = window(engine, server, "alice")
    page.goto()
    return page


@pytest.fixture
def without_javascript(
    name: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChatPage]:
    """A window of a stranger's browser."""
    with STARTED[name](tmp_path_factory.mktemp(name), javascript=False) as started:
        browser = started.window()
        yield ChatPage(browser, server)
        assert browser.errors() == []
        browser.close()
