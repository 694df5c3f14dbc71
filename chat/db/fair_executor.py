"""Fair sharing of threads between users: `FairExecutor` for slow work, `ConcurrencyLimit` for the database.

In a plain pool, the user with the most requests gets the most threads: with twenty heavy pages of one user in
its queue, everybody else waits for all twenty. A `FairExecutor` has one queue per user, serves the queues in
turn, and never gives one user more than one thread at a time.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from django.db import connections
from django.utils import translation

P = ParamSpec("P")
T = TypeVar("T")
FAIR_THREADS = 8  # for as many users at the same time; a thread is started when it is first needed

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Work:
    future: "Future[Any]"
    call: Callable[[], Any]


class FairExecutor:
    """A thread pool with one queue per user: round-robin, at most one thread each. Thread-safe."""

    def __init__(self, name: str, threads: int = FAIR_THREADS) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        # The users who wait, the next one first. A user is in here or in `_busy` only while there is work.
        self._queues: dict[Hashable, deque[_Work]] = {}
        self._busy: set[Hashable] = set()

    def submit(
        self, person: Hashable, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> "Future[T]":
        """Run `function` in a thread when it is this user's turn, with the caller's language active."""
        language = translation.get_language()

        def call() -> T:
            with translation.override(language):
                return function(*args, **kwargs)

        work = _Work(Future(), call)
        with self._lock:
            self._queues.setdefault(person, deque()).append(work)
            self._dispatch()
        return work.future

    async def run(self, person: Hashable, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do the same for the event loop, and return the result."""
        return await asyncio.wrap_future(self.submit(person, function, *args, **kwargs))

    def waiting(self, person: Hashable) -> int:
        """Return how many calls of this user are queued and not started."""
        with self._lock:
            return len(self._queues.get(person, ()))

    def _dispatch(self) -> None:
        """Start the next call of each waiting user while threads are free. The caller holds the lock."""
        for person in [person for person in self._queues if person not in self._busy]:
            if len(self._busy) >= self._threads:
                return
            queue = self._queues.pop(person)
            work = queue.popleft()
            if queue:
                self._queues[person] = queue  # behind the other users
            self._busy.add(person)
            self._pool.submit(self._run, person, work)

    def _run(self, person: Hashable, work: _Work) -> None:
        try:
            if work.future.set_running_or_notify_cancel():
                _do(work)
        finally:
            try:
                connections.close_all()  # one is open only if the work queried the database
            except Exception:
                logger.exception("a database connection could not be closed")
            finally:
                self._next(person)

    def _next(self, person: Hashable) -> None:
        with self._lock:
            self._busy.discard(person)
            self._dispatch()


def _do(work: _Work) -> None:
    try:
        result = work.call()
    except BaseException as error:  # a panic of the Rust parser is a BaseException
        work.future.set_exception(error)
    else:
        work.future.set_result(result)


class ConcurrencyLimit:
    """Limit each person (a user, or an API key) to `most` threads of a shared pool at a time.

    Further work waits outside the pool, so the pool's queue holds at most `most` items of each person. To be
    used on one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # Weak values: an entry lives while a task holds its semaphore or waits for it.
        self._slots: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    def slot(self, person: Hashable) -> asyncio.Semaphore:
        """Return the semaphore of this person, for `async with`."""
        return self._slots.setdefault(person, asyncio.Semaphore(self._most))


# For all that computes for long: rendering, templates, and the parsing of large forms.
RENDER_POOL = FairExecutor("rendering")
