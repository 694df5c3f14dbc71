"""The requests and bytes of a visit to a page, as the browser itself counts them."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page

# Playwright's clock would replace `performance` as well, and with it the way the page tells a reload.
# A busy browser sends the events of a pointer at 0, 0 that nobody has moved.
UNTOUCHED = """{
  const original = setTimeout;
  window.setTimeout = (callback, delay, ...args) => (delay < 1_000 ? original(callback, delay, ...args) : 0);
  for (const type of ['pointermove', 'pointerover']) {
    addEventListener(type, (event) => event.stopImmediatePropagation(), { capture: true });
  }
}"""


@dataclass
class Request:
    """One request; bytes are those on the wire."""

    url: str
    kind: str  # Document, Stylesheet, Script, Font, …
    begun_by: str  # parser, script, other
    body: int = 0  # bytes, still compressed
    whole: int = 0  # bytes, with the headers
    kept: bool = False  # came from the browser's own store

    @property
    def path(self) -> str:
        return urlsplit(self.url).path


@dataclass
class Visit:
    requests: dict[str, Request] = field(default_factory=lambda: defaultdict(lambda: Request("", "", "")))

    @property
    def fetched(self) -> list[Request]:
        return [request for request in self.requests.values() if not request.kept]

    @property
    def document(self) -> Request:
        """The page itself: the browser counts it only with its headers."""
        return next(request for request in self.fetched if request.kind == "Document")

    def bodies(self, kind: str) -> int:
        return sum(request.body for request in self.fetched if request.kind == kind)

    @property
    def bytes(self) -> int:
        return sum(request.whole for request in self.fetched)


def visit(page: Page, address: str) -> Visit:
    """Go there, and return what is requested before the page's timers of a second and more, and any use.

    Those load what a first view does not need. On a busy machine they run before the network is idle.
    """
    found = Visit()
    page.add_init_script(UNTOUCHED)
    session = page.context.new_cdp_session(page)
    for name, heard in (
        ("requestWillBeSent", _began),
        ("requestServedFromCache", _was_kept),
        ("responseReceived", _on_response),
        ("dataReceived", _came),
        ("loadingFinished", _ended),
    ):
        session.on(f"Network.{name}", lambda event, heard=heard: heard(found.requests, event))
    session.send("Network.enable")
    page.goto(address)
    page.wait_for_load_state("networkidle")
    session.detach()
    return found


def _began(requests: dict[str, Request], event: dict[str, Any]) -> None:
    begun_by = event["initiator"]["type"]
    requests[event["requestId"]] = Request(event["request"]["url"], event["type"], begun_by)


def _was_kept(requests: dict[str, Request], event: dict[str, Any]) -> None:
    requests[event["requestId"]].kept = True


def _on_response(requests: dict[str, Request], event: dict[str, Any]) -> None:
    if event["response"]["fromDiskCache"]:
        requests[event["requestId"]].kept = True


def _came(requests: dict[str, Request], event: dict[str, Any]) -> None:
    requests[event["requestId"]].body += event["encodedDataLength"]


def _ended(requests: dict[str, Request], event: dict[str, Any]) -> None:
    requests[event["requestId"]].whole = int(event["encodedDataLength"])
