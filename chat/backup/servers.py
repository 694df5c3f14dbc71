"""Whether a server runs on this folder or this database: nothing is replaced under one."""

import uuid
from pathlib import Path

from django.db import DatabaseError
from django.db.models.functions import Now

from chat.models import Worker
from chat.models.worker import DEAD_AFTER
from chat.ownership import process_lock


def running(folder: Path) -> str:
    """A sentence where one runs, else empty.

    A process of this machine is known by the lock that it holds; another machine's by its heartbeat.
    """
    for path in (folder / "workers").glob("*"):
        if (worker := _key_of(path)) and process_lock.is_locked(folder / "workers", worker):
            return f"A server runs with the DATA_DIR {folder}: stop it first."
    return ""


def heard() -> str:
    """The same of servers that wrote into this database a moment ago, wherever they run."""
    try:
        worker = Worker.objects.filter(heartbeat_at__gte=Now() - DEAD_AFTER).first()
    except DatabaseError:
        return ""  # no such table, or a damaged one
    if worker is None:
        return ""
    seconds = int(DEAD_AFTER.total_seconds())
    return f"The server {worker} uses this database: stop it first. If it was killed, wait {seconds} seconds."


def _key_of(path: Path) -> uuid.UUID | None:
    try:
        return uuid.UUID(path.name)
    except ValueError:
        return None
