"""Locks between processes: a file for those of one machine, an advisory lock for those of one PostgreSQL."""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

WAITING_FOR_DATA_DIR = "Another process is preparing DATA_DIR. Waiting for it."
WAITING_FOR_DATABASE = "Another process is preparing the database. Waiting for it."
# "chat" in ASCII: the key of the advisory lock; keys are local to a database.
MIGRATIONS_LOCK_KEY = 1_667_785_076
LOCK_POLL_SECONDS = 0.2


@contextmanager
def exclusive(path: Path, waiting: str = "") -> Iterator[None]:
    """Hold the lock of this file. The kernel releases it however the process ends.

    `waiting` is printed to standard error if another process holds the lock.
    """
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(waiting)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def preparing(data_dir: Path) -> AbstractContextManager[None]:
    """Hold the lock under which a process changes what all servers of this DATA_DIR share."""
    return exclusive(data_dir / "prepare.lock", WAITING_FOR_DATA_DIR)


@contextmanager
def migrating(connection: Any) -> Iterator[None]:
    """Hold the lock for migrations of this database.

    PostgreSQL's lock belongs to the session, so it is released when the process dies. SQLite's is a file
    beside the database, never the database itself: closing that would drop the locks that this process's
    connections hold on it.
    """
    if connection.vendor == "postgresql":
        with _advisory(connection, MIGRATIONS_LOCK_KEY):
            yield
        return
    path = str(connection.settings_dict["NAME"])
    in_memory = ":memory:" in path or "mode=memory" in path
    lock = nullcontext() if in_memory else exclusive(Path(f"{path}.migrate-lock"), WAITING_FOR_DATABASE)
    with lock:
        yield


@contextmanager
def _advisory(connection: Any, key: int) -> Iterator[None]:
    with connection.cursor() as cursor:
        if not _try(cursor, key):
            _say(WAITING_FOR_DATABASE)
            # Not pg_advisory_lock: the holder's CREATE INDEX CONCURRENTLY waits for each statement that runs.
            while not _try(cursor, key):
                time.sleep(LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        if connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _try(cursor: Any, key: int) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
    return bool(cursor.fetchone()[0])


def _say(words: str) -> None:
    if words:
        print(words, file=sys.stderr, flush=True)
