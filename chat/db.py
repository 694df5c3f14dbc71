"""ORM work off the event loop, in threads of our own.

Django's `sync_to_async` ties a thread and a connection to each request, for a stream as long as it lives.
These few threads keep their connections, so an open stream holds neither.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, connections
from django.utils import translation

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 4
LANGUAGES = len(settings.LANGUAGES)
CONNECTION_ERRORS = (OperationalError, InterfaceError)
"""Django's for a database that is away or busy, rather than for a statement that is wrong."""

logger = logging.getLogger(__name__)


class DatabaseExecutor:
    """A pool of threads, each with a connection that outlives the call."""

    def __init__(self, name: str, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in one of the threads; cancelling the caller lets it finish there."""
        language = translation.get_language() if LANGUAGES > 1 else None

        def call() -> T:
            # Which language is active belongs to the caller's thread.
            with translation.override(language) if language else nullcontext():
                try:
                    return _reconnecting(function, *args, **kwargs)
                except InterfaceError as error:
                    # Django's alone among "the database is away" that is no DatabaseError.
                    raise OperationalError(str(error)) from error

        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    async def aclose(self, seconds: float) -> None:
        """Close the connections, for so long; a thread that hangs in a dead one is left behind."""
        closing = asyncio.get_running_loop().run_in_executor(None, self.close)
        await asyncio.wait({closing}, timeout=seconds)

    def close(self) -> None:
        for _ in range(self._pool._max_workers):
            self._pool.submit(connections.close_all)
        self._pool.shutdown(wait=True)


def _reconnecting(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Once more on a fresh connection where the kept one turned out dead (a restarted database).

    Safe to repeat: what is written through here is keyed (a run by its client key, a chunk by its start).
    """
    try:
        return function(*args, **kwargs)
    except CONNECTION_ERRORS:
        if all(each.connection is None or each.is_usable() for each in connections.all()):
            raise
        logger.warning("a database connection was lost; connecting again")
        connections.close_all()
        return function(*args, **kwargs)


@contextmanager
def write_lock() -> Iterator[None]:
    """Wait here for one's turn to write where the database takes one writer at a time.

    SQLite's own waiting is sleeping and looking again: 100 sends at once took 370 ms that way, 236 this way.
    """
    with _one_writer if connection.vendor == "sqlite" else nullcontext():
        yield


run_in_db = DatabaseExecutor("db", THREADS)
_one_writer = threading.Lock()
