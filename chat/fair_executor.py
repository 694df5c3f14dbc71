"""Threads shared fairly between people: those for work that costs time, and the database's.

In a plain pool whoever asks most gets most: with twenty heavy pages of one person in its queue, everybody
else waits for all twenty. Here each person has a queue, the queues take turns, and one person never has more
than one thread at a time.
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
THREADS = 8  # for as many people at the same time; each is started when it is needed

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Work:
    future: "Future[Any]"
    call: Callable[[], Any]


class FairExecutor:
    """One queue a person, round-robin, at most one thread for each. Safe to use from any thread."""

    def __init__(self, name: str, threads: int = THREADS) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        # Those who wait, whose turn it is first. A person is here or in `_busy` only while there is work.
        self._queues: dict[Hashable, deque[_Work]] = {}
        self._busy: set[Hashable] = set()

    def submit(
        self, person: Hashable, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> "Future[T]":
        """Run `function` in a thread when it is this person's turn, in the caller's language."""
        language = translation.get_language()

        def call() -> T:
            with translation.override(language):
                return function(*args, **kwargs)

        work = _Work(Future(), call)
        with self._lock:
            self._queues.setdefault(person, deque()).append(work)
            self._dispatch()
        return work.future

    def waiting(self, person: Hashable) -> int:
        """How much of this person's work waits for its turn."""
        with self._lock:
            return len(self._queues.get(person, ()))

    def _dispatch(self) -> None:
        """Give free threads to those whose turn it is. The lock is held."""
        for person in [person for person in self._queues if person not in self._busy]:
            if len(self._busy) >= self._threads:
                return
            queue = self._queues.pop(person)
            work = queue.popleft()
            if queue:
                self._queues[person] = queue  # at the end of the round
            self._busy.add(person)
            self._pool.submit(self._run, person, work)

    def _run(self, person: Hashable, work: _Work) -> None:
        try:
            if work.future.set_running_or_notify_cancel():
                _do(work)
        finally:
            try:
                connections.close_all()  # of a template that asked something after all; else there is none
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
    except BaseException as error:  # the parser is Rust, whose panics are no Exception
        work.future.set_exception(error)
    else:
        work.future.set_result(result)


class Turns:
    """Limits each person to `most` threads of a shared pool at a time; further work waits outside the pool.

    So the pool's queue holds at most `most` items of each person. To be used on one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # An entry lives as long as somebody holds it or waits for it.
        self._turns: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, person: Hashable) -> asyncio.Semaphore:
        """This person's turn, for `async with`."""
        return self._turns.setdefault(person, asyncio.Semaphore(self._most))


RENDER_POOL = FairExecutor("rendering")
