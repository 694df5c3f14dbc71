"""The background task that runs imports, one at a time in each process."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import IO, Any

from chat.attachments.extraction import Extracted, NeedsConversion
from chat.attachments.problems import ConversionUnavailable
from chat.background import FailureLog
from chat.db import DatabaseExecutor

from .attachments import ConvertDocument
from .jobs import tidy, work

IMPORT_POLL_SECONDS = 5.0  # between two searches for imports, such as those of a process that died
TIDY_SECONDS = 3_600.0
STOP_SECONDS = 0.2  # between two looks whether the server stops, while a document is converted
AsyncConvert = Callable[[int, IO[bytes], NeedsConversion], Coroutine[Any, Any, Extracted]]

_wake: asyncio.Event | None = None


async def work_on_imports(convert: AsyncConvert) -> None:
    """Run imports until cancelled. A cancellation lets the current conversation finish."""
    global _wake
    _wake = asyncio.Event()
    thread, stopping, log = DatabaseExecutor("db-import"), threading.Event(), FailureLog("import")
    convert_here = _from_thread(convert, asyncio.get_running_loop(), stopping)
    tidied_at = time.monotonic() - TIDY_SECONDS

    async def work_while_any() -> None:
        nonlocal tidied_at
        if time.monotonic() - tidied_at >= TIDY_SECONDS:
            await thread(tidy)
            tidied_at = time.monotonic()
        while await thread(work, stopping.is_set, convert_here):
            pass

    try:
        while True:
            await log.watch(work_while_any())
            _wake.clear()
            try:
                await asyncio.wait_for(_wake.wait(), IMPORT_POLL_SECONDS)
            except TimeoutError:
                continue
    finally:
        stopping.set()
        await asyncio.get_running_loop().run_in_executor(None, thread.close)


def _from_thread(
    convert: AsyncConvert, loop: asyncio.AbstractEventLoop, stopping: threading.Event
) -> ConvertDocument:
    """Return `convert` for the import's thread. It gives up when the server stops; the import is resumed."""

    def call(person: int, file: IO[bytes], needed: NeedsConversion) -> Extracted:
        future = asyncio.run_coroutine_threadsafe(convert(person, file, needed), loop)
        while not stopping.is_set():
            try:
                return future.result(STOP_SECONDS)
            except TimeoutError:
                continue
        future.cancel()
        raise ConversionUnavailable("the server stops", retry_after=1)

    return call


def wake() -> None:
    """Make this process look for imports now. To be called on its event loop."""
    if _wake is not None:
        _wake.set()
