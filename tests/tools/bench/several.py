"""Several processes: workers behind one port, PostgreSQL with Redis, and viewers at another process.

The load client and the fake upstream share the cores with the server, so the streams that a machine can
carry are not counted. They follow from the CPU time of the busiest worker, which gives out first. N workers
get N times the streams of one process: at half of its load, a worker takes more time for each token, because
its event loop finds fewer of them at once.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Protocol

import psycopg
import redis

from tests.support.databases import POSTGRES, Template
from tests.support.server import Person, Server

from .cost import Cost, cost
from .load import Job
from .process import Process, Workers
from .stage import Stage
from .table import Line, percentile
from .targets import Chat, Words

CARRY_PER_WORKER = 0.9  # of what one process carries
TOKEN_MARK, SEND_MARK = 1.2, 1.5  # times what SQLite costs
NOTIFIED_MARK, POLLED_MARK = 60.0, 2000.0  # ms, p50
REDIS = os.environ.get("TEST_REDIS", "redis://127.0.0.1:6379/15")
WATCHED = Words(60, 0.1)
TIMEOUT = 60.0  # seconds for the workers to serve


class Size(Protocol):
    """The size of a measurement."""

    tokens: int
    rounds: int
    ratio_rounds: int
    workers: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A site that is measured: its processes, its address, and the number of streams at once."""

    process: Process | Workers
    chat: Chat
    streams: int


def lines(stage: Stage, one: Measured, size: Size) -> list[Line]:
    """`one`: a single process on SQLite."""
    measured = _several_workers(stage, one, size)
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
        redis.Redis.from_url(REDIS).ping()
    except (psycopg.OperationalError, redis.ConnectionError) as error:
        print(f"PostgreSQL or Redis is not here, so they are not measured: {error}")
        return measured
    (stage.folder / "postgres").mkdir()
    template = Template(stage.folder / "postgres", "postgres")
    try:
        return [*measured, *_on_postgres(stage, template, one, size)]
    finally:
        template.drop()


def _several_workers(stage: Stage, one: Measured, size: Size) -> list[Line]:
    streams = one.streams * size.workers
    with _workers(stage, stage.template, size.workers) as (workers, chat):
        token, send = _ratios(stage, one, Measured(workers, chat, streams), size)
        job = Job(chat, Words(size.tokens, 0.02), streams, over=1.0)
        share = median(_busiest_share(stage, workers, job) for _ in range(size.rounds))
    carry = CARRY_PER_WORKER * size.workers
    return [
        Line(f"CPU a token, {size.workers} workers / one process", token, "×"),
        Line(f"CPU a send, {size.workers} workers / one process", send, "×"),
        Line("share of the busiest worker", share * 100, "%"),
        Line("streams of all / of one process", 1 / (token * share), "×", carry, at_least=True),
        Line("sends of all / of one process", 1 / (send * share), "×", carry, at_least=True),
    ]


def _on_postgres(stage: Stage, template: Template, one: Measured, size: Size) -> list[Line]:
    with _pair(stage, template, REDIS_URL=REDIS) as (server, other):
        assert server.process
        assert server.process.pid
        both = Measured(Process(server.process.pid), Chat(server.url), one.streams)
        token, send = _ratios(stage, one, both, size)
        notified = _delays(server, other)
    with _pair(stage, template) as (server, other):
        polled = _delays(server, other)
    return [
        Line("CPU a token, PostgreSQL and Redis / SQLite", token, "×", TOKEN_MARK),
        Line("CPU a send, PostgreSQL and Redis / SQLite", send, "×", SEND_MARK),
        Line(
            "text at a viewer of another process, p50", percentile(notified, 0.5) * 1e3, "ms", NOTIFIED_MARK
        ),
        Line("  p95", percentile(notified, 0.95) * 1e3, "ms"),
        Line("  without Redis, p50", percentile(polled, 0.5) * 1e3, "ms", POLLED_MARK),
    ]


def _ratios(stage: Stage, one: Measured, other: Measured, size: Size) -> tuple[float, float]:
    """Return how many times the CPU time of `one` a token and a send of `other` take: medians.

    Both are measured in turn, because the speed of a virtual machine changes from minute to minute.
    """
    pairs = [[_cost(stage, each, size.tokens) for each in (one, other)] for _ in range(size.ratio_rounds)]
    return (
        median(second.token / first.token for first, second in pairs),
        median(second.send / first.send for first, second in pairs),
    )


def _cost(stage: Stage, measured: Measured, tokens: int) -> Cost:
    return cost(stage, measured.process, measured.chat, measured.streams, tokens, rounds=1)


@contextmanager
def _workers(stage: Stage, template: Template, count: int) -> Iterator[tuple[Workers, Chat]]:
    """Start `count` workers on one port, each of which has answered questions."""
    with _started(stage.new_server(template, arguments=("--workers", str(count)))) as server:
        assert server.process
        assert server.process.pid
        supervisor = Process(server.process.pid)
        deadline = time.monotonic() + TIMEOUT
        while int(server.database.value("SELECT COUNT(*) FROM chat_worker")) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"not all of {count} workers serve")
            time.sleep(0.1)
        stage.complete(Job(Chat(server.url), Words(2), 50))
        yield Workers.of(supervisor), Chat(server.url)


@contextmanager
def _pair(stage: Stage, template: Template, **env: str) -> Iterator[tuple[Server, Server]]:
    """Start two processes with one database, each on a port of its own."""
    server = stage.new_server(template, **env)
    try:
        with _started(server), _started(stage.new_server(template, beside=server, **env)) as other:
            yield server, other
    finally:
        server.database.drop()


@contextmanager
def _started(server: Server) -> Iterator[Server]:
    try:
        yield server.start()
    finally:
        server.end()


def _busiest_share(stage: Stage, workers: Workers, job: Job) -> float:
    """Return which part of the workers' CPU time the busiest of them spends on many streams."""
    before = [worker.cpu() for worker in workers.all]
    stage.complete(job)
    spent = [worker.cpu() - earlier for worker, earlier in zip(workers.all, before, strict=True)]
    return max(spent) / sum(spent)


def _delays(server: Server, other: Server) -> list[float]:
    """Return the seconds by which text comes later to a viewer at `other` than to the one who asked."""
    sender_times: list[tuple[int, float]] = []
    viewer_times: list[tuple[int, float]] = []
    with server.person("alice").ask(str(WATCHED)) as stream:
        stream.until(1)
        viewer = threading.Thread(target=_follow, args=(other.person("alice"), stream.run, viewer_times))
        viewer.start()
        while stream.next():
            sender_times.append((len(stream.text), time.monotonic()))
        viewer.join(TIMEOUT)
    return [
        arrived - _time_of(length, sender_times)
        for length, arrived in viewer_times
        if length > sender_times[0][0]
    ]


def _follow(person: Person, run: str, seen: list[tuple[int, float]]) -> None:
    with person.follow(run) as stream:
        length = 0
        while stream.next():
            if len(stream.text) > length:
                length = len(stream.text)
                seen.append((length, time.monotonic()))


def _time_of(length: int, seen: list[tuple[int, float]]) -> float:
    """Return when a text of this length had come."""
    return next(at for so_far, at in seen if so_far >= length)
