"""A crawl of every link, as by a browser's prefetch or a search engine, changes nothing."""

import re
from collections import deque
from html import unescape
from urllib.parse import urldefrag, urljoin

import pytest

from tests.support.databases import Database
from tests.support.server import Server
from tests.views.objects import Turn, address, make_deleted_turn, make_turn, never
from tests.views.rights import ROLES, ROWS
from tests.views.stored import everything

PAGES = 120  # followed for each role; links with sorted and filtered lists go on and on
RECORDS = ("chat_conversationaccess", "chat_conversationaccessowner")  # who read what of whom in the review
LINK = re.compile(r'\b(?:href|src|action|formaction|content)="([^"#][^"]*)"')


@pytest.fixture(scope="module")
def turns(server: Server) -> list[Turn]:
    alice = server.person("alice")
    return [make_turn(alice), make_deleted_turn(alice), never()]


@pytest.mark.parametrize("role", ROLES)
def test_following_every_link_changes_nothing(
    server: Server, database: Database, turns: list[Turn], role: str
) -> None:
    person = server.person(role)
    starts = [address(row, turn) for row in ROWS for turn in turns if "GET" in row.methods]
    waiting, seen = deque(dict.fromkeys(starts)), set(starts)
    given = len(seen)
    readings = "SELECT COUNT(*) FROM chat_conversationaccess"
    before, read = everything(database, *RECORDS), database.value(readings)
    followed = 0
    while waiting and followed < given + PAGES:
        followed += 1
        path = waiting.popleft()
        page = person.get(path)
        assert page.status_code < 500, path
        for link in LINK.findall(page.text) if "text/html" in page.headers.get("Content-Type", "") else ():
            target = urldefrag(urljoin(path, unescape(link)))[0]
            if target.startswith("/") and not target.startswith("/static/") and target not in seen:
                seen.add(target)
                waiting.append(target)
    assert everything(database, *RECORDS) == before
    recorded = database.value(readings) - read
    assert (recorded > 0) is (role in ("erin", "root"))
    assert role not in ("alice", "root") or followed > given + 2
