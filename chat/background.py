"""Background tasks of the event loop: start, repeat, wait for and cancel them."""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from django.db import DatabaseError

T = TypeVar("T")

logger = logging.getLogger(__name__)


def spawn(coroutine: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
    """Start a task in an empty `contextvars` context.

    A copy of a request's context would tie each database call of the task to that request's thread, which
    would then live as long as the task.
    """
    return asyncio.get_running_loop().create_task(coroutine, name=name, context=contextvars.Context())


class BackgroundTasks:
    """The background tasks of one object. Keeps them alive, as the event loop has only weak references."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, coroutine: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        task = spawn(coroutine, name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def repeat(
        self, step: Callable[[], Awaitable[None]], seconds: float | Callable[[], float], name: str
    ) -> None:
        """Call `step` in an endless loop, each time after `seconds`. Log a step that fails, and go on."""
        self.start(_repeat(step, seconds, name), name)

    async def wait(self, seconds: float) -> None:
        """Wait until the tasks have ended, for at most `seconds`."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def cancel(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def log_failure(work: Awaitable[None], name: str) -> None:
    """Await `work` and log any exception: a DatabaseError as a warning without its traceback."""
    try:
        await work
    except DatabaseError as error:
        logger.warning("%s: the database does not answer: %s", name, type(error).__name__)
    except Exception:
        logger.exception("%s failed", name)


async def _repeat(
    step: Callable[[], Awaitable[None]], seconds: float | Callable[[], float], name: str
) -> None:
    while True:
        await asyncio.sleep(seconds() if callable(seconds) else seconds)
        await log_failure(step(), name)
