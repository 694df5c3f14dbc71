"""Rendering: for how long a hostile reply keeps the event loop from everybody else."""

import asyncio
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import aclosing

import django

from .table import Line

LENGTH = 100_000  # code points
PIECE = 2_000  # code points that come at once, a second's worth of a fast model
PAUSE = 0.01  # seconds between two of them
TICK = 0.001  # seconds
MARK = 20.0  # ms
HOSTILE = {
    "brackets": "[",
    "images": "![",
    "links": "[a](",
    "stars": "*a **",
    "quotes": "> ",
    "ticks": "`` ` ",
    "entities": "&",
    "one list": "- item *one*\n",
    "nested lists": "- ",
    "one table": "| a | b |\n",
    "a wide table": "|" * 500 + "\n",
    "code": "for number in range(3): print(number)\n",
    "definitions": "[a]: /b\n\n[a]\n\n",
    "paragraphs": "Some *words* of a [text](https://example.org).\n\n",
}


def holds() -> Iterator[Line]:
    """The longest time for which the loop did nothing else, of all these texts."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.settings")
    django.setup()
    worst = {name: asyncio.run(_held(_text(name, piece))) * 1e3 for name, piece in HOSTILE.items()}
    name = max(worst, key=lambda name: worst[name])
    yield Line(f"loop held at most, 100 kB of {len(worst)} hostile kinds", worst[name], "ms", MARK)
    yield Line(f"  which was: {name}; the median kind", sorted(worst.values())[len(worst) // 2], "ms")


def _text(name: str, piece: str) -> str:
    start = {"one table": "| a | b |\n|---|---|\n", "a wide table": "|a" * 500 + "\n" + "|-" * 500 + "\n"}
    start["code"] = "```python\n"
    return (start.get(name, "") + piece * (LENGTH // len(piece) + 1))[:LENGTH]


async def _held(text: str) -> float:
    """Seconds by which a task that wanted to run every millisecond came late, at most."""
    from chat.engine.outcome import RunOutcome
    from chat.engine.streaming.html_feed import HtmlFeed
    from chat.engine.streaming.run_state import RunInfo, RunState
    from chat.engine.streaming.viewer import Viewer, Viewers
    from chat.wire.position import Position

    state = RunState(RunInfo(*(uuid.uuid4() for _ in range(4)), "model"))
    viewer = Viewer(Viewers(), HtmlFeed.of(state), Position(), session="", user=1, password="")
    reader = asyncio.create_task(_read(viewer))
    ticker = asyncio.create_task(_lateness())
    for start in range(0, len(text), PIECE):
        state.append(text[start : start + PIECE])
        await asyncio.sleep(PAUSE)
    state.finish(RunOutcome("complete"))
    await reader
    ticker.cancel()
    return await ticker


async def _read(viewer) -> None:  # type: ignore[no-untyped-def]
    async with aclosing(viewer.frames()) as frames:
        async for _ in frames:
            pass


async def _lateness() -> float:
    """Seconds beyond `TICK` between two turns of this task, at most; what else runs here counts too."""
    worst = 0.0
    try:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK)
            worst = max(worst, time.perf_counter() - before - TICK)
    except asyncio.CancelledError:
        return worst
