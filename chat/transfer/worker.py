"""The background task that runs imports, one at a time in each process."""

import asyncio
import threading
import time

from chat.background import FailureLog
from chat.db import DatabaseExecutor

from .jobs import tidy, work

POLL_SECONDS = 5.0  # between two searches for imports, such as those of a process that died
TIDY_SECONDS = 3_600.0

_wake: asyncio.Event | None = None


async def work_on_imports() -> None:
    """Run imports until cancelled. A cancellation lets the current conversation finish."""
    global _wake
    _wake = asyncio.Event()
    thread, stopping, log = DatabaseExecutor("db-import"), threading.Event(), FailureLog("import")

    tidied_at = time.monotonic() - TIDY_SECONDS

    async def work_while_any() -> None:
        nonlocal tidied_at
        if time.monotonic() - tidied_at >= TIDY_SECONDS:
            await thread(tidy)
            tidied_at = time.monotonic()
        while await thread(work, stopping.is_set):
            pass

    try:
        while True:
            await log.watch(work_while_any())
            _wake.clear()
            try:
                await asyncio.wait_for(_wake.wait(), POLL_SECONDS)
            except TimeoutError:
                continue
    finally:
        stopping.set()
        await asyncio.get_running_loop().run_in_executor(None, thread.close)


def wake() -> None:
    """Make this process look for imports now. To be called on its event loop."""
    if _wake is not None:
        _wake.set()
