"""A real Chromium for all files of tests, a browser window for each test, and one server for each file.

Debian's chromium-headless-shell is used if it is installed: the same engine without what a desktop browser
has around it, for about a sixth less processor time. `whole_chromium` is for tests of what it does otherwise.
"""

import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.conftest import missing
from tests.e2e.chat_page import ChatPage
from tests.e2e.fonts import DEJAVU, environment
from tests.e2e.sidebar_page import conversations, drop
from tests.e2e.windows import PATIENCE, Windows
from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database, Template
from tests.support.module_server import database, fake, pseudo_locale_server, server
from tests.support.server import Server, Servers

# The address bar of each window would load two pages of its own: a second of processor time for every test.
# A spare renderer would be started for each window, and end with it unused.
# The other names are Playwright's, which it would set itself if nothing were said here.
WITHOUT = [
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
]
FLAGS = [
    f"--disable-features={','.join(WITHOUT)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP foreign.test 127.0.0.1",
]
# Every page of a context runs in one process, which the first page has started. The policy would give each
# window a second process, for it parts our page from the empty one that Playwright opens before.
SHARING = [
    f"--disable-features={','.join([*WITHOUT, 'CrossOriginOpenerPolicy'])}",
    *FLAGS[1:],
    "--renderer-process-limit=1",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a failure say what its windows showed: of an element that is missing, nothing else says why."""
    report = yield
    if report.when == "call" and report.failed and "windows" in item.funcargs:
        longrepr: Any = report.longrepr
        longrepr.addsection("windows", item.funcargs["windows"].shown())
    return report


@contextmanager
def launched(
    playwright: Playwright, family: str, folder: Path, *, whole: bool = False, flags: Sequence[str] = FLAGS
) -> Iterator[Browser]:
    """A Chromium that sets its pages in `family`; `whole`: never the headless shell."""
    shell = None if whole else shutil.which("chromium-headless-shell")
    path = shell or shutil.which("chromium")
    if path is None:
        missing("Chromium", "install the package chromium")
    expect.set_options(timeout=PATIENCE)
    # Playwright forbids the back-forward cache, which real browsers use.
    browser = playwright.chromium.launch(
        executable_path=path,
        args=flags,
        env=environment(family, folder),
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield browser
    browser.close()


# Package scope, not session: Playwright keeps an event loop running in the thread of the tests, which the
# async tests of other packages cannot run beside.
@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def chromium(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all files: every test has windows of its own, which share nothing but a process."""
    with launched(playwright, DEJAVU, tmp_path_factory.mktemp("fonts"), flags=SHARING) as browser:
        yield browser


@pytest.fixture(scope="package")
def isolating_chromium(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """For pages that open another in a new tab: it obeys Cross-Origin-Opener-Policy, as browsers do.

    A file of tests uses it by a fixture `chromium` of its own.
    """
    with launched(playwright, DEJAVU, tmp_path_factory.mktemp("fonts")) as browser:
        yield browser


@pytest.fixture(scope="module")
def whole_chromium(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """For what the headless shell does otherwise: it has no back-forward cache.

    A file of tests uses it by a fixture `chromium` of its own.
    """
    with launched(playwright, DEJAVU, tmp_path_factory.mktemp("fonts"), whole=True) as browser:
        yield browser


@pytest.fixture(scope="module")
def fresh_server(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server without any account."""
    folder = tmp_path_factory.mktemp("fresh")
    template.static_for(folder)
    database = template.copy(folder)
    for table in ("django_session", "chat_identifier", "chat_user"):
        database.rows(f"DELETE FROM {table}")
    made = Server(folder, database, SECRET_KEY=template.secret_key)
    yield made.start()
    made.end()
    database.drop()


@pytest.fixture
def one(server: Server) -> str:
    """Alice's only conversation."""
    drop(server.database, "alice")
    return conversations(server.database, "alice", ["Sailing"])[0]


@pytest.fixture(scope="module")
def windows(chromium: Browser) -> Iterator[Windows]:
    """The windows of one file of tests."""
    made = Windows(chromium)
    yield made
    made.close()


@pytest.fixture
def window(windows: Windows) -> Iterator[Callable[..., Page]]:
    """Open a window for somebody: `window(server, "alice", at="/settings/", width=390)`.

    Nothing of other tests is in it, but its process has run before; `own=True` starts one.
    Fails on an exception, a dialog or a breach of the content policy in any of its pages.
    """
    yield windows.open
    assert windows.take_back() == []


@pytest.fixture
def chat(request: pytest.FixtureRequest, window: Callable[..., Page], server: Server) -> ChatPage:
    """Open a chat on a wide page, or as wide as the test says."""
    return ChatPage.open(window, server, width=getattr(request, "param", 1280))
