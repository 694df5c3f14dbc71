"""Checks of the database before the site starts."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from chat.backup import integrity
from chat.db import migration_status
from chat.telemetry.redaction import redact


def problem() -> str:
    """Return why the site cannot start on its database, as `manage.py serve` says it; "" if it can.

    It is unreachable or damaged, lacks migrations, or is the target of a move that has not ended.
    """
    try:
        require_sound(connection)
        return migration_status.MISSING_TABLES if migration_status.are_missing() else ""
    except CommandError as error:
        return str(error)
    except DatabaseError as error:
        return f"The database of DATABASE_URL cannot be used: {redact(str(error))}"
    finally:
        connection.close()


def require_sound(connection: Any) -> None:
    """Raise CommandError if a move has not ended, or a check of `START_SECONDS` finds the file damaged."""
    _require_file_sound(connection)
    try:
        if integrity.is_half_moved(connection):
            raise CommandError(integrity.UNFINISHED)
    except DatabaseError:
        return  # unreachable, which the caller finds out and reports


def _require_file_sound(connection: Any) -> None:
    if connection.vendor != "sqlite":
        return
    path = Path(str(connection.settings_dict["NAME"]))
    if found := integrity.damage(path, integrity.START_SECONDS):
        raise CommandError(f"The database {path} is damaged ({found}). {integrity.DAMAGE_ADVICE}")
