"""Search: queries of a person with many messages and of a reviewer, and the size of the index."""

import random
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx

from tests.support.databases import ROOT, Database
from tests.support.people import SESSIONS
from tests.support.server import Server

from .process import Process
from .site import VOCABULARY, word
from .stage import Stage
from .table import Line, percentile

OWN_MARK, REVIEW_MARK, SIZE_MARK = 20.0, 50.0, 1.2  # ms, ms, times the text
WORDS = (15, 150)  # of a question, and of a reply
TALK = 100  # messages of a conversation
TRIES = 10  # of each query
OLDEST = "datetime('now', '-1 year')"
BUILD = "from chat.search.build import restart, step\nrestart()\nwhile step() is not None: pass"


@dataclass(frozen=True, slots=True)
class Costs:
    """The durations of requests, in ms."""

    waits: list[float]
    cpu: float  # of one, on average


def found(stage: Stage, messages: int) -> list[Line]:
    """Half of the messages are one person's, the others those of a colleague."""
    with stage.server() as (server, process, _):
        written = _fill(server.database, messages)
        size = _size(server.database)
        _build(server)
        size = _size(server.database) - size
        own = _measure_page(server, process, "alice", "/search/", {"Accept": "application/json"})
        review = _measure_page(server, process, "erin", "/admin/chat/conversation/", {})
    return [
        Line(
            f"own search, {messages // 2:,} of {messages:,} messages, p50", percentile(own.waits, 0.5), "ms"
        ),
        Line("  p95", percentile(own.waits, 0.95), "ms", OWN_MARK),
        Line("  CPU", own.cpu, "ms"),
        Line("the administration’s search, p50", percentile(review.waits, 0.5), "ms"),
        Line("  p95", percentile(review.waits, 0.95), "ms", REVIEW_MARK),
        Line("  CPU", review.cpu, "ms"),
        Line("the index beside its text", size / written, "×", SIZE_MARK),
    ]


# Words of all frequencies, alone and together.
QUERIES = [
    word(3),
    word(300),
    word(20_000),
    f"{word(3)} {word(5)}",
    f"{word(40)} {word(900)}",
    f'"{word(1)} {word(2)}"',
    f"{word(7)} -{word(2)}",
    word(300)[:-1],
]


def _texts(count: int) -> Iterator[str]:
    chance = random.Random(1)
    vocabulary = [word(rank) for rank in range(VOCABULARY)]
    weights = [1 / (rank + 1) for rank in range(VOCABULARY)]
    for number in range(count):
        yield " ".join(chance.choices(vocabulary, weights, k=WORDS[number % 2]))


def _fill(database: Database, messages: int) -> int:
    """Return the bytes of text."""
    people = dict(database.rows("SELECT username, id FROM chat_user"))
    texts, bytes_written = _texts(messages), 0
    for number in range(messages // TALK):
        talk, owner = uuid.UUID(int=number + 1).hex, people[("alice", "bob")[number % 2]]
        rows = []
        for place in range(TALK):
            key = number * TALK + place + 1
            parent = f"'{key - 1:032x}'" if place else "NULL"
            text = next(texts)
            bytes_written += len(text)
            role = ("user", "assistant")[place % 2]
            rows.append(f"('{key:032x}', '{talk}', {parent}, '{role}', '{text}', '', 'm', {OLDEST})")
        database.each(
            "INSERT INTO chat_conversation (id, user_id, title, model, system, created, updated, last_seen) "
            f"VALUES ('{talk}', {owner}, 'Talk', 'm', '', {OLDEST}, {OLDEST}, {OLDEST})",
            "INSERT INTO chat_message "
            "(id, conversation_id, parent_id, role, text, reasoning, model, created) "
            "VALUES " + ", ".join(rows),
            f"UPDATE chat_conversation SET active_leaf_id = '{(number + 1) * TALK:032x}' WHERE id = '{talk}'",
        )
    return bytes_written


def _size(database: Database) -> int:
    names = ("page_count", "freelist_count", "page_size")
    pages, free, page = (int(database.value(f"PRAGMA {name}")) for name in names)
    return (pages - free) * page


def _build(server: Server) -> None:
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", BUILD]
    subprocess.run(command, cwd=ROOT, env=server.env, check=True, capture_output=True)


def _measure_page(
    server: Server, process: Process, person: str, path: str, headers: Mapping[str, str]
) -> Costs:
    cookies = {"sessionid": SESSIONS[person]}
    with httpx.Client(base_url=server.url, cookies=cookies, headers=headers, timeout=60) as browser:
        _wait(browser, path, QUERIES[0])
        spent = process.cpu()
        waits = [_wait(browser, path, query) for query in QUERIES for _ in range(TRIES)]
        return Costs(waits, (process.cpu() - spent) / len(waits) * 1e3)


def _wait(browser: httpx.Client, path: str, query: str) -> float:
    """Return the milliseconds until the page of results is here."""
    began = time.perf_counter()
    response = browser.get(path, params={"q": query})
    assert response.status_code == 200, response.text[:200]
    return (time.perf_counter() - began) * 1e3
