"""Detection of servers that use this DATA_DIR or database: a restore must not replace data under them."""

import uuid
from contextlib import suppress
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS, DatabaseError
from django.db.models.functions import Now

from chat.models import Worker
from chat.models.worker import DEAD_AFTER
from chat.ownership import journal


def check_process_locks(folder: Path) -> str:
    """Return an error message if a server of this machine uses this DATA_DIR, else "".

    A process of this machine is detected by its process lock, one of another machine by its heartbeat: see
    `check_heartbeats`.
    """
    for path in (folder / "workers").glob("*"):
        with suppress(ValueError):  # another file
            if journal.is_locked(folder / "workers", uuid.UUID(path.name)):
                return f"A server is running with the DATA_DIR {folder}. Stop it first."
    return ""


def check_heartbeats(database: str = DEFAULT_DB_ALIAS) -> str:
    """Return an error message if a server of any machine wrote a heartbeat within DEAD_AFTER, else ""."""
    try:
        worker = Worker.objects.using(database).filter(heartbeat_at__gte=Now() - DEAD_AFTER).first()
    except DatabaseError:
        return ""  # the table does not exist, or is damaged
    if worker is None:
        return ""
    seconds = int(DEAD_AFTER.total_seconds())
    wait = f"If it was killed, wait {seconds} seconds."
    return f"The server {worker} is using this database. Stop it first. {wait}"
