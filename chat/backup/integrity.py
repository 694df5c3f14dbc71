"""Checks that a database is whole: no damaged SQLite file, and no target of a move that has not ended.

A start of the server looks at both, so this module loads nothing that a server does not need.
"""

import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

# The record of a move, in the database that is being filled: it is there until the move has ended. Meanwhile
# no server starts, because the database is not whole and its references are not checked.
MOVE = "chat_move"
UNFINISHED = (
    "The database is the target of a move that has not ended. Run the same `manage.py move` again to go on, "
    "or use another database."
)
START_SECONDS = 2.0  # for the check at a start; enough for about a gigabyte
PROGRESS_INSTRUCTIONS = 10_000  # instructions of SQLite's virtual machine between two looks at the clock
DAMAGE_ADVICE = (
    "Stop every server, keep a copy of the file, and restore the last backup: "
    "`manage.py restore <backup> --force`. docs/operating.md says more under “Backup”."
)


def is_half_moved(connection: Any) -> bool:
    """Return True if a move into this database has not ended. Raises DatabaseError."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return False  # to ask would create the file
    with connection.cursor() as cursor:
        return MOVE in connection.introspection.table_names(cursor)


def damage(path: Path, seconds: float = 0.0, *, thorough: bool = False) -> str:
    """Return a description of the file's damage; "" if none was found, or if there is no database yet.

    The header and the schema are always checked. The check of the pages ends after `seconds`; 0 checks all.
    `thorough` also compares the indexes with their tables (`integrity_check` instead of `quick_check`).
    """
    if not path.is_file() or not path.stat().st_size:
        return ""
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=20)
        try:
            return _look(connection, seconds, thorough)
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return ""  # another process has locked it: nothing is known
        return str(error)
    except sqlite3.DatabaseError as error:
        return str(error)


def _look(connection: sqlite3.Connection, seconds: float, thorough: bool) -> str:
    connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    if seconds:
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, PROGRESS_INSTRUCTIONS)
    try:
        found = connection.execute(f"PRAGMA {'integrity' if thorough else 'quick'}_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return ""
        raise
    return "" if found == "ok" else " ".join(found.split())
