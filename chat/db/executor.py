"""Run ORM work off the event loop, in a small thread pool.

Django's `sync_to_async` ties a thread and a database connection to each request, for a stream as long as it
is open. The few threads of this pool keep their connections, so an open stream holds neither.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from typing import ClassVar, ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.utils import translation

from .fair_executor import ConcurrencyLimit
from .requester import requester

P = ParamSpec("P")
T = TypeVar("T")
REQUEST_THREADS = 4
MAX_REST_SECONDS = 1.0
IDLE_TRANSACTION_SECONDS = 10  # less than the silence after which a process counts as dead
DATABASE_CONNECTION_ERRORS = (OperationalError, InterfaceError)
"""Raised by Django when the database is unreachable or busy, as opposed to a wrong statement."""
IDLE_TRANSACTION_ENDED = "25P03"  # https://www.postgresql.org/docs/current/errcodes-appendix.html

logger = logging.getLogger(__name__)


class DatabaseExecutor:
    """A thread pool in which each thread keeps its database connection from call to call.

    With several threads, the requests of one person use at most half of them at a time, and those of an
    address whose users are not known yet all but one. Everything else waits outside the pool, so that nobody
    waits for more than a few calls of another person.
    """

    # Called in the thread after each call, with the name of the pool and the seconds waited and worked.
    on_call: ClassVar[Callable[[str, float, float], None] | None] = None

    def __init__(self, name: str, threads: int = 1) -> None:
        self._name = name
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._is_shared = threads > 1
        self._person_limit = ConcurrencyLimit(max(1, threads // 2))
        self._address_limit = ConcurrencyLimit(max(1, threads - 1))

    async def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in one of the threads. It runs to its end even if the caller is cancelled.

        A language that it activates, such as the one that the request's user chose, is then the caller's.
        """
        before = language = translation.get_language() or settings.LANGUAGE_CODE
        asked = time.perf_counter()

        def call() -> T:
            nonlocal language
            begun = time.perf_counter()
            translation.activate(language)  # the thread still has that of the call before
            try:
                return _reconnecting(function, *args, **kwargs)
            except InterfaceError as error:
                # Of Django's errors for an unreachable database, only this one is no DatabaseError.
                raise OperationalError(str(error)) from error
            finally:
                language = translation.get_language() or before
                if on_call := DatabaseExecutor.on_call:
                    on_call(self._name, begun - asked, time.perf_counter() - begun)

        loop = asyncio.get_running_loop()
        with ExitStack() as held:
            for limit in self._limits():
                await limit.acquire()
                held.callback(limit.release)
            work = self._pool.submit(call)
            release = held.pop_all().close
        # At the end of the work, not of the caller: a client that disconnects leaves its work to the thread.
        work.add_done_callback(lambda _: loop.is_closed() or loop.call_soon_threadsafe(release))
        try:
            return await asyncio.wrap_future(work)
        finally:
            if language != before:
                translation.activate(language)

    def _limits(self) -> Iterator[asyncio.Semaphore]:
        """Yield what the current request has to acquire; nothing for work that is no request's."""
        if self._is_shared and (current := requester.get()):
            yield self._person_limit.slot(current.person)
            if current.address:
                yield self._address_limit.slot(current.address)

    async def aclose(self, seconds: float) -> None:
        """Close the connections within `seconds`; a thread that hangs in a dead connection is abandoned."""
        closing = asyncio.get_running_loop().run_in_executor(None, self.close)
        await asyncio.wait({closing}, timeout=seconds)

    def close(self) -> None:
        for _ in range(self._pool._max_workers):
            self._pool.submit(connections.close_all)
        self._pool.shutdown(wait=True)


def _reconnecting(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function`, and again on a fresh connection if the kept one is dead (a restarted database).

    Safe to repeat, because all rows written by this executor have a key: a run its client key, a chunk its
    start.
    """
    try:
        return function(*args, **kwargs)
    except Exception as error:
        if not is_connection_error(error) or all(
            each.connection is None or each.is_usable() for each in connections.all()
        ):
            raise
        logger.warning("a database connection was lost; connecting again")
        connections.close_all()
        return function(*args, **kwargs)


def is_connection_error(error: Exception) -> bool:
    """Return True if the database is to blame, and not the statement: the same may succeed later."""
    if isinstance(error, DATABASE_CONNECTION_ERRORS):
        return True
    # Django has it as an `InternalError`, which a damaged index raises too.
    return getattr(error.__cause__, "sqlstate", None) == IDLE_TRANSACTION_ENDED


def end_idle_transactions() -> None:
    """Let PostgreSQL end each transaction of this process that waits for its next statement for too long.

    The process is then frozen or gone, and the locks of its transaction would hold up those that recover its
    replies. Of a host that is gone, PostgreSQL itself learns after two hours.
    """
    connection_created.connect(_limit_idle_transactions, dispatch_uid="end_idle_transactions")


def _limit_idle_transactions(connection: BaseDatabaseWrapper, **_: object) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION_SECONDS}s'")


@contextmanager
def write_lock() -> Iterator[None]:
    """Serialise the write transactions of this process on SQLite, which allows one writer at a time.

    SQLite itself waits by sleeping and polling: 100 concurrent sends took 370 ms without this lock and 236 ms
    with it.
    """
    with _one_writer if connection.vendor == "sqlite" else nullcontext():
        yield


@contextmanager
def short_transaction() -> Iterator[None]:
    """Run the block in a transaction, then sleep for as long as it held the write lock, so others can write.

    The sleep is at most `MAX_REST_SECONDS`. For work that is cut into many such transactions.
    """
    started = time.monotonic()
    with write_lock(), transaction.atomic():
        yield
    time.sleep(min(time.monotonic() - started, MAX_REST_SECONDS))


run_in_db = DatabaseExecutor("db", REQUEST_THREADS)
_one_writer = threading.Lock()
