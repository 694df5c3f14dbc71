"""Lists: the pages of a person with 20,000 conversations, beside those of one whose list is one page long."""

import statistics
import time
import uuid

import httpx

from tests.support.databases import Database
from tests.support.people import SESSIONS

from .stage import Stage
from .table import Line

PEOPLE = {"bob": 200, "alice": 20_000}  # conversations of each
PATHS = {"/": "the start page", "/c/{}/": "a conversation", "/conversations/": "all conversations"}
TRIES = 20
MARK = 1.3  # times as long
FILL = """
INSERT INTO chat_conversation
    (id, user_id, title, model, system, created, updated, last_seen)
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count})
SELECT printf('%024x%08x', {user}, n), {user}, 'Talk ' || n, 'local/model', '', datetime('now'),
    datetime('now', '-' || n || ' minutes'), datetime('now')
FROM number"""


def listed(stage: Stage) -> list[Line]:
    """Return the ratios of the pages' times, from the request to the last byte."""
    with stage.server() as (server, _, _):
        opened = {}
        for name, count in PEOPLE.items():
            key = _fill(server.database, name, count)
            with httpx.Client(base_url=server.url, cookies={"sessionid": SESSIONS[name]}) as browser:
                opened[name] = {path: _open(browser, path.format(key)) for path in PATHS}
    few, many = (opened[name] for name in PEOPLE)
    lines = []
    for path, title in PATHS.items():
        lines += [
            Line(f"{title}, p50, with {PEOPLE['alice']:,} conversations", many[path], "ms"),
            Line(f"  beside {PEOPLE['bob']}", many[path] / few[path], "×", MARK),
        ]
    return lines


def _fill(database: Database, name: str, count: int) -> uuid.UUID:
    """Return the id of one of them that the list beside the chat does not show."""
    user = database.value(f"SELECT id FROM chat_user WHERE username = '{name}'")
    database.rows(FILL.format(user=user, count=count))
    return uuid.UUID(f"{user:024x}{count:08x}")


def _open(browser: httpx.Client, path: str) -> float:
    """Return the median in ms."""
    waits = []
    for _ in range(TRIES):
        began = time.perf_counter()
        assert browser.get(path).status_code == 200
        waits.append((time.perf_counter() - began) * 1e3)
    return statistics.median(waits)
