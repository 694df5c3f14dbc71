"""Opening: how long a very long conversation takes to come, whole as its page is."""

import time
import uuid

import httpx

from tests.support.people import SESSIONS
from tests.support.server import Server

from .stage import Stage
from .table import Line, percentile

MESSAGES = 5_000
TRIES = 30
MARK = 300.0  # ms
CONVERSATION = uuid.UUID(int=1)
TEXT = "Some *words* of a reply, with `code`.\n\n- one\n- two\n\n```python\nprint(1)\n```\n" * 4
FILL = f"""
INSERT INTO chat_message (id, conversation_id, parent_id, role, text, reasoning, model, created)
WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < {MESSAGES + 1})
SELECT printf('%032x', n), '{CONVERSATION.hex}', iif(n = 2, NULL, printf('%032x', n - 1)),
    iif(n % 2, 'assistant', 'user'), '{TEXT}', '', iif(n % 2, 'local/model', ''), datetime('now')
FROM number"""


def opened(stage: Stage) -> list[Line]:
    """Measure the time from the request to the last byte of the page."""
    with stage.server() as (server, process, _):
        _fill(server)
        with httpx.Client(base_url=server.url, cookies={"sessionid": SESSIONS["alice"]}) as browser:
            before, waits = process.cpu(), [_open(browser) * 1e3 for _ in range(TRIES)]
            cost = (process.cpu() - before) / TRIES * 1e3
            size = len(browser.get(f"/c/{CONVERSATION}/").content) / 1e3
    return [
        Line(f"a conversation of {MESSAGES:,} messages, p50", percentile(waits, 0.5), "ms", MARK),
        Line("  p95", percentile(waits, 0.95), "ms", MARK),
        Line("  CPU", cost, "ms"),
        Line("  its page, uncompressed", size, "kB"),
    ]


def _fill(server: Server) -> None:
    alice = server.database.value("SELECT id FROM chat_user WHERE username = 'alice'")
    server.database.rows(
        "INSERT INTO chat_conversation "
        "(id, user_id, title, model, system, created, updated, last_seen) VALUES "
        f"('{CONVERSATION.hex}', {alice}, 'Long', 'local/model', '', datetime('now'), datetime('now'), "
        "datetime('now'))"
    )
    server.database.rows(FILL)
    server.database.rows(f"UPDATE chat_conversation SET active_leaf_id = '{MESSAGES + 1:032x}'")


def _open(browser: httpx.Client) -> float:
    began = time.perf_counter()
    response = browser.get(f"/c/{CONVERSATION}/")
    assert response.status_code == 200
    assert "Some <em>words</em>" in response.text
    return time.perf_counter() - began
