"""The background task that runs imports: a few at a time in each process, each in a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from chat.db.background import FailureLog
from chat.db.executor import DatabaseExecutor

from .jobs import Stop, claim, tidy

if TYPE_CHECKING:
    from chat.files.extraction import Extracted, NeedsConversion

    from .attachments import ConvertDocument

IMPORT_POLL_SECONDS = 5.0  # between two searches for imports, such as those of a process that died
TIDY_SECONDS = 3_600.0
# The largest file that each thread takes. Large ones last for minutes, and others need not wait for them.
MOST_BYTES = (None, None, 8 * 1_048_576)
AsyncConvert = Callable[[int, IO[bytes], "NeedsConversion"], "Coroutine[Any, Any, Extracted]"]

_wake: list[asyncio.Event] = []  # of each thread


async def work_on_imports(convert: AsyncConvert) -> None:
    """Run imports until cancelled, which gives them back."""
    stopping, loop = threading.Event(), asyncio.get_running_loop()

    def convert_here(person: int, file: IO[bytes], needed: "NeedsConversion") -> "Future[Extracted]":
        return asyncio.run_coroutine_threadsafe(convert(person, file, needed), loop)

    threads = [DatabaseExecutor("db-import") for _ in MOST_BYTES]
    _wake[:] = [asyncio.Event() for _ in MOST_BYTES]
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_tidy_often(threads[0]))
            for thread, woken, most_bytes in zip(threads, _wake, MOST_BYTES, strict=True):
                one = partial(thread, _work, stopping.is_set, convert_here, most_bytes)
                tasks.create_task(_work_while_any(one, woken))
    finally:
        stopping.set()
        for thread in threads:
            await loop.run_in_executor(None, thread.close)


def _work(stop: Stop, convert: "ConvertDocument", most_bytes: int | None) -> bool:
    """Do one step of the oldest import that this thread may claim. Return False if there is none."""
    job = claim(most_bytes)
    if job:
        from .step import work  # what it imports is not needed before

        work(job, stop, convert)
    return job is not None


async def _tidy_often(thread: DatabaseExecutor) -> None:
    log = FailureLog("tidying of imports")
    while True:
        await log.watch(thread(tidy))
        await asyncio.sleep(TIDY_SECONDS)


async def _work_while_any(one: Callable[[], Awaitable[bool]], woken: asyncio.Event) -> None:
    async def every() -> None:
        while await one():
            pass

    log = FailureLog("import")
    while True:
        await log.watch(every())
        woken.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(woken.wait(), IMPORT_POLL_SECONDS)


def wake() -> None:
    """Make this process look for imports now. To be called on its event loop."""
    for event in _wake:
        event.set()
