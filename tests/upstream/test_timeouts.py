"""The deadline of a reply, by a clock of its own."""

import asyncio
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from chat.upstream.client import Client
from chat.upstream.http_transport import Deadline, Timeouts
from tests.upstream.asking import ask
from tests.upstream.raw_server import STREAM, Server
from tests.wire.streams import chunk, ended, frames

TIMEOUTS = Timeouts(silence=60, progress=300, total=3_600)
START = -10_000.0  # all times are in the past of the real loop, also of a machine that has just started


class Clock:
    """The event loop's, as far as the deadline uses it."""

    def __init__(self) -> None:
        self.now = START
        self._due: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_at(self, at: float, callback: Callable[[], None]) -> SimpleNamespace:
        self._due = [(at, callback)]
        return SimpleNamespace(cancel=self._due.clear)

    def tick(self) -> None:
        self.now += 1
        for at, callback in list(self._due):
            if at <= self.now:
                callback()


Step = Callable[[Deadline], None] | None


async def end(monkeypatch: pytest.MonkeyPatch, steps: Iterable[Step], *, streams: bool) -> float | None:
    """Return the second in which the deadline passes, None if it does not; each second has a step."""
    clock = Clock()
    with monkeypatch.context() as patched:
        patched.setattr("chat.upstream.http_transport.asyncio.get_running_loop", lambda: clock)
        deadline = Deadline(TIMEOUTS, None, streams=streams)
    try:
        async with deadline:
            for step in steps:
                if step:
                    step(deadline)
                clock.tick()
                await asyncio.sleep(0)
    except TimeoutError:
        return clock.now - START
    return None


def silent(deadline: Deadline) -> None:
    deadline.begin_read()


def comment(deadline: Deadline) -> None:
    deadline.end_read()
    deadline.begin_read()


def says(deadline: Deadline) -> None:
    deadline.end_read()
    deadline.begin_read(after_progress=True)


def finished(deadline: Deadline) -> None:
    deadline.end_read()
    deadline.begin_read(is_last=True)


def unread(deadline: Deadline) -> None:
    deadline.end_read()


WAIT = [None] * 5_000


@pytest.mark.parametrize(
    ("steps", "streams", "seconds"),
    [
        ([silent, *WAIT], True, 60),
        ([silent, *WAIT], False, 300),
        ([silent, *[None] * 49, comment, *WAIT], True, 110),
        ([comment] * 5_000, True, 300),
        ([*[comment] * 250, says, *[comment] * 5_000], True, 550),
        ([says] * 5_000, True, 3_600),
        ([*[says] * 100, *WAIT], True, 159),
        ([says, finished, *WAIT], True, 6),
        ([says, *[finished] * 5_000], True, 6),
        ([says, finished, says, *[None] * 40, says, *WAIT], True, 103),
        ([says, unread, *[None] * 1_000, says, *WAIT], True, 1_062),
        ([says, unread, *WAIT], True, 3_600),
    ],
)
async def test_a_deadline_passes_once_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, steps: list[Any], streams: bool, seconds: float
) -> None:
    assert await end(monkeypatch, steps, streams=streams) == seconds


COMMENTS = [b": still here\n\n"] * 6
TOOL = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a":"'}}
PIECES = [TOOL, *[{"index": 0, "function": {"arguments": "x"}}] * 6]
DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("pieces", "timeouts"),
    [
        (COMMENTS, Timeouts(silence=0.4)),
        ([frames(chunk(tool_calls=[each])).removesuffix(DONE) for each in PIECES], Timeouts(0.4, 0.4)),
        ([frames(chunk("", reasoning="x")).removesuffix(DONE)] * 6, Timeouts(0.4, 0.4)),
    ],
)
async def test_what_comes_keeps_the_reply_alive(pieces: list[bytes], timeouts: Timeouts) -> None:
    last = frames(chunk("Hi"), ended("stop"))
    async with Server((STREAM + b"\r\n", *pieces, last), pause=0.1) as server:
        made = Client(server.account, None, timeouts=timeouts, read_interval=0.01)
        reply = await ask(made, "hello")
        await made.aclose()
    assert (reply.text, reply.error) == ("Hi", None)
