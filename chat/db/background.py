"""Background tasks of the event loop: start, repeat, wait for and cancel them."""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from django.db import Error

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
        return self.keep(spawn(coroutine, name))

    def keep(self, task: asyncio.Task[T]) -> asyncio.Task[T]:
        """Count as one of these a task that needs the context of its request."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def repeat(
        self, step: Callable[[], Awaitable[None]], seconds: float | Callable[[], float], name: str
    ) -> None:
        """Call `step` in an endless loop, each time after `seconds`. Log failures, and go on."""
        self.start(repeat(step, seconds, name), name)

    async def wait(self, seconds: float) -> None:
        """Wait until the tasks have ended, for at most `seconds`."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def cancel(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class FailureLog:
    """Log the first of a series of failures, and its end: a step that is repeated would fill the log.

    `outages`: errors that are logged at `level`, without a traceback, and count as one kind of failure.
    """

    def __init__(
        self,
        name: str,
        outages: type[Exception] | tuple[type[Exception], ...] = Error,
        level: int = logging.WARNING,
    ) -> None:
        self._name = name
        self._outages = outages
        self._level = level
        self._kind: type[Exception] | str = ""  # of the present series, "" for none
        self._failures = 0

    async def watch(self, work: Awaitable[None]) -> None:
        """Await `work`. Its exception is logged, unless the work before it failed in the same way."""
        try:
            await work
        except Exception as error:
            self.failed(error)
        else:
            self.succeeded()

    def failed(self, error: Exception) -> None:
        is_outage = isinstance(error, self._outages)
        kind = "outage" if is_outage else type(error)
        self._failures += 1
        if kind == self._kind:
            return
        self._kind = kind
        if is_outage:
            logger.log(self._level, "%s failed: %s", self._name, type(error).__name__)
        else:
            logger.error("%s failed", self._name, exc_info=error)

    def succeeded(self) -> None:
        if self._kind:
            logger.info("%s works again after %d failures", self._name, self._failures)
        self._kind, self._failures = "", 0


async def log_failure(work: Awaitable[None], name: str) -> None:
    """Await `work` that is done once, and log its exception: a database error without a traceback."""
    await FailureLog(name).watch(work)


async def repeat(
    step: Callable[[], Awaitable[None]], seconds: float | Callable[[], float], name: str
) -> None:
    """Call `step` until cancelled, each time after `seconds`. Log failures, and go on."""
    log = FailureLog(name)
    while True:
        await asyncio.sleep(seconds() if callable(seconds) else seconds)
        await log.watch(step())
