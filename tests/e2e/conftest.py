"""A real Chromium, and a browser window for whoever uses it."""

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.conftest import missing
from tests.people import SESSIONS
from tests.server import Server

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        missing("Chromium", "install the package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def window(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open a window for somebody: `window(server, "alice", width=390)`. Fails on any error in the console."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_window(server: Server, name: str = "", *, width: int = 1280, **options: object) -> Page:
        context = chromium.new_context(
            base_url=server.url, viewport={"width": width, "height": 800}, **options
        )
        contexts.append(context)
        if name in SESSIONS:
            context.add_cookies([{"name": "sessionid", "value": SESSIONS[name], "url": server.url}])
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if "Content Security" in said.text else None)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert errors == []
