"""Several processes: workers behind one port.

The load client and the fake upstream share the cores with the server, so the streams that a machine can
carry are not counted. They follow from the CPU time of the busiest worker, which gives out first. N workers
get N times the streams of one process: at half of its load, a worker takes more time for each token, because
its event loop finds fewer of them at once.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from .cost import Cost, cost
from .load import Job
from .process import Process, Workers
from .stage import Stage
from .table import Line
from .targets import Chat, Words

CARRY_PER_WORKER = 0.9  # of what one process carries
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
    """`one`: a single process."""
    streams = one.streams * size.workers
    with _workers(stage, size.workers) as (workers, chat):
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
def _workers(stage: Stage, count: int) -> Iterator[tuple[Workers, Chat]]:
    """Start `count` workers on one port, each of which has answered questions."""
    server = stage.new_server(stage.template, arguments=("--workers", str(count)))
    try:
        server.start()
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
    finally:
        server.end()


def _busiest_share(stage: Stage, workers: Workers, job: Job) -> float:
    """Return which part of the workers' CPU time the busiest of them spends on many streams."""
    before = [worker.cpu() for worker in workers.all]
    stage.complete(job)
    spent = [worker.cpu() - earlier for worker, earlier in zip(workers.all, before, strict=True)]
    return max(spent) / sum(spent)
