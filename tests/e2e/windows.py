"""Browser windows for tests: a new page for each, in a browser context that tests share one after the other.

A new context costs a process, and in a cold process a page takes twice the processor time to load. A
test's page is closed with all that is in it. The context is cleared before the next test, and one that cannot
be cleared is not lent again.
"""

from collections import defaultdict
from typing import Any, NoReturn

from playwright.sync_api import Browser, BrowserContext, CDPSession, ConsoleMessage, Dialog, Error, Page

from tests.e2e.network import Network
from tests.support.people import SESSIONS
from tests.support.server import Server

PATIENCE = 15_000  # milliseconds; these machines are busy
HEIGHT = 800
# Options of a context that nothing in a test changes.
LASTING_OPTIONS = {
    "bypass_csp",
    "color_scheme",
    "has_touch",
    "is_mobile",
    "java_script_enabled",
    "locale",
    "reduced_motion",
    "timezone_id",
}
# Calls whose effect on a context lasts.
LASTING_CALLS = (
    "add_init_script",
    "expose_binding",
    "expose_function",
    "route_web_socket",
    "set_extra_http_headers",
    "set_geolocation",
)
# The last ones: status, URL, and milliseconds from the start of the page to that of the request and its end.
RESPONSES = """() => performance.getEntriesByType('resource').slice(-20).map((entry) =>
    [entry.responseStatus, entry.name, ...[entry.startTime, entry.responseEnd].map(Math.round)].join(' '))"""
CLOCK_INSTALLED = "'__pwClock' in globalThis"  # in each page of the context, and for good


def _refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("this lasts, and the window is lent again: ask for a window with `own=True`")


class Lent:
    """A context, and what its pages say while a test has it."""

    def __init__(self, browser: Browser, url: str, options: dict[str, Any], *, own: bool) -> None:
        self.context: BrowserContext = browser.new_context(base_url=url, **options)
        self.context.set_default_timeout(PATIENCE)
        self.context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self.context.on("console", self._heard)
        self.context.on("dialog", self._met)
        self.errors: list[str] = []
        self._url = url
        self._empty: Page | None = None  # as long as it is open, its process lives, for the next page
        self._devtools: CDPSession | None = None
        if not own:
            for name in LASTING_CALLS:
                setattr(self.context, name, _refuse)
            self._empty = self.context.new_page()
            self._devtools = self.context.new_cdp_session(self._empty)
            self._browser = browser.new_browser_cdp_session()

    def page_for(self, name: str) -> Page:
        self.errors = []
        if name in SESSIONS:
            self.context.add_cookies([{"name": "sessionid", "value": SESSIONS[name], "url": self._url}])
        return self.context.new_page()

    def taken_back(self) -> bool:
        """Close its pages; return False if it cannot be lent again, and is closed too."""
        if self._empty is None or self._empty.evaluate(CLOCK_INSTALLED):
            self.context.close()
            return False
        for page in self.context.pages:
            if page is not self._empty:
                self._close(page)
        return True

    def _close(self, page: Page) -> None:
        """Close a page. `page.close()` has no time limit, and waits for ever if Chromium says nothing."""
        devtools = self.context.new_cdp_session(page)
        target = devtools.send("Target.getTargetInfo")["targetInfo"]["targetId"]
        with page.expect_event("close", timeout=PATIENCE):
            self._browser.send("Target.closeTarget", {"targetId": target})

    def clear(self) -> None:
        """Leave nothing of the test before."""
        assert self._devtools
        self.context.set_offline(False)
        self.context.unroute_all()
        self.context.clear_permissions()
        self.context.clear_cookies()
        self._devtools.send("Storage.clearDataForOrigin", {"origin": self._url, "storageTypes": "all"})
        self._devtools.send("Network.clearBrowserCache")

    def _heard(self, message: ConsoleMessage) -> None:
        if "/run/" in message.location["url"]:
            return  # what a policy refuses to a model's own document
        if "Content Security" in message.text or "requires 'Trusted" in message.text:
            self.errors.append(message.text)

    def _met(self, dialog: Dialog) -> None:
        self.errors.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


def _described(page: Page) -> str:
    try:
        shown = page.locator("body").aria_snapshot(timeout=PATIENCE)
        responses = "\n".join(page.evaluate(RESPONSES))
    except Error as error:  # a page that was closed, or does not answer
        return f"{page.url}: {error.message}"
    return f"{page.url} shows\n{shown}\n{responses}"


class Windows:
    """The windows of a file of tests."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Lent]] = defaultdict(list)
        self._lent: list[tuple[str, Lent]] = []

    def open(
        self,
        server: Server | Network,
        name: str = "",
        *,
        at: str = "",
        width: int = 1280,
        own: bool = False,
        **options: Any,
    ) -> Page:
        options["viewport"] = {"width": width, "height": HEIGHT}
        own = own or not options.keys() <= {*LASTING_OPTIONS, "viewport"}
        kind = repr((server.url, sorted(options.items())))
        if not own and self._free[kind]:
            lent = self._free[kind].pop()
            lent.clear()
        else:
            lent = Lent(self._browser, server.url, options, own=own)
        self._lent.append((kind, lent))
        page = lent.page_for(name)
        if at:
            page.goto(at)
        return page

    def shown(self) -> str:
        """Return what the pages of a test show, and their last responses: why it failed."""
        pages = [page for _, lent in self._lent for page in lent.context.pages if page.url != "about:blank"]
        return "\n\n".join(_described(page) for page in pages)

    def take_back(self) -> list[str]:
        """Take back what a test has opened; return what went wrong in it."""
        errors = []
        while self._lent:
            kind, lent = self._lent.pop()
            if lent.taken_back():
                self._free[kind].append(lent)
            errors += lent.errors
        return errors

    def close(self) -> None:
        for free in self._free.values():
            for lent in free:
                lent.context.close()
