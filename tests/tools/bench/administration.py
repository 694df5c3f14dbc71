"""The administration, and a person's pages, on a large site that is made for it, on both databases."""

import time
from collections.abc import Iterator, Mapping
from urllib.parse import quote

import httpx
import psycopg

from tests.support.databases import POSTGRES, Template
from tests.support.people import SESSIONS

from . import site
from .stage import Stage
from .table import Line, percentile

TRIES = 10  # of each page
MARK, OWN_SEARCH_MARK, SEARCH_MARK = 100.0, 20.0, 50.0  # ms
JSON = {"Accept": "application/json"}
# Words of all frequencies, alone and together.
QUERIES = [
    site.word(3),
    site.word(300),
    site.word(20_000),
    f"{site.word(3)} {site.word(5)}",
    f"{site.word(40)} {site.word(900)}",
    f'"{site.word(1)} {site.word(2)}"',
    f"{site.word(7)} -{site.word(2)}",
    site.word(300)[:-1],
]

LIST = "/admin/chat/conversation/"
LOGS = ("run", "call", "titlerequest")
FILTERS = (
    *(f"state={state}" for state in ("complete", "failed", "stopped", "queued")),
    *(f"thumbs={thumbs}" for thumbs in ("up", "down", "none")),
    *(f"deleted={deleted}" for deleted in ("yes", "no")),
    f"model={quote(site.MODELS[3])}",
    "state=failed&thumbs=down&deleted=no",
)
REQUEST_FILTERS = (
    *(f"status__exact={status}" for status in ("complete", "failed", "running")),
    f"model={quote(site.MODELS[3])}",
    "error_code=busy",
    "error_code=",
)


def administered(stage: Stage, size: site.Size) -> list[Line]:
    return [line for kind in _databases() for line in _on(stage, kind, size)]


def _databases() -> Iterator[str]:
    yield "sqlite"
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"Not on PostgreSQL: {error}")
        return
    yield "postgres"


def _on(stage: Stage, kind: str, size: site.Size) -> list[Line]:
    folder = stage.folder / f"administration-{kind}"
    folder.mkdir()
    template = Template(folder, kind)
    server = stage.new_server(template)
    try:
        made = site.fill(server.database, size)
        server.start()
        return list(lines(kind, server.url, made))
    finally:
        server.end()
        server.database.drop()
        template.drop()


def lines(kind: str, url: str, made: site.Site, tries: int = TRIES) -> Iterator[Line]:
    """Yield what each kind of page takes, from `tries` requests of each."""
    terms = [quote(query) for query in QUERIES]
    longest = f"{LIST}{made.longest}/change/"
    with _browser(url, "root") as root:
        for what, paths in {
            "list of conversations": [LIST, f"{LIST}?o=2", f"{LIST}?owner={made.alice}"],
            "  its last page": [f"{LIST}?last=1", f"{LIST}?last=1&deleted=no"],
            "  its filters": [f"{LIST}?{query}" for query in FILTERS],
            "transcripts, with neighbours": [
                f"{longest}?_changelist_filters={quote(query)}" for query in ("", "deleted=no", *FILTERS[:1])
            ],
            "lists of requests": [f"/admin/chat/{log}/" for log in LOGS],
            "  their last pages": [f"/admin/chat/{log}/?last=1" for log in LOGS],
            "  their filters": [f"/admin/chat/{log}/?{query}" for log in LOGS for query in REQUEST_FILTERS],
            "  by person, request id or error": [
                f"/admin/chat/run/?q={term}" for term in ("alice", made.request, "answered", "no-such-id")
            ],
            "other pages": [
                "/admin/",
                "/admin/chat/run/rates/?period=week",
                "/admin/chat/conversationaccess/?last=1",
                "/admin/chat/user/",
            ],
        }.items():
            yield Line(f"{kind}: {what}, p95", percentile(_waits(root, paths, tries), 0.95), "ms", MARK)
        found = _waits(root, [f"{LIST}?q={term}" for term in terms], tries)
        yield Line(f"{kind}: search of all messages, p95", percentile(found, 0.95), "ms", SEARCH_MARK)
    with _browser(url, "alice") as alice:
        for path, what in {"/": "start page", f"/c/{made.longest}/": "longest conversation",
                           "/conversations/": "all conversations"}.items():  # fmt: skip
            waits = _waits(alice, [path], tries)
            yield Line(f"{kind}: a person’s {what}, p95", percentile(waits, 0.95), "ms", MARK)
        found = _waits(alice, [f"/search/?q={term}" for term in terms], tries, JSON)
        yield Line(f"{kind}: search of own messages, p95", percentile(found, 0.95), "ms", OWN_SEARCH_MARK)


def _browser(url: str, name: str) -> httpx.Client:
    return httpx.Client(base_url=url, cookies={"sessionid": SESSIONS[name]}, timeout=60)


def _waits(
    browser: httpx.Client, paths: list[str], tries: int, headers: Mapping[str, str] | None = None
) -> list[float]:
    """Return the milliseconds of each request; the first of each page is not counted."""
    waits = []
    for path in paths:
        for number in range(tries + 1):
            began = time.perf_counter()
            response = browser.get(path, headers=headers)
            assert response.status_code == 200, f"{path}: {response.status_code} {response.text[:200]}"
            if number:
                waits.append((time.perf_counter() - began) * 1e3)
    return waits
