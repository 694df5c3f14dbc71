"""`manage.py migrate`: Django's command, serialised for each database, and refused on a damaged one."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DatabaseError, OperationalError, connections

from chat.backup import integrity
from chat.move import state
from chat.redaction import redact
from chatsite.locks import migrating


class Command(migrate.Command):
    """Serialise migrations: of several servers started with --prepare one migrates, and the others wait."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Check the file and take the lock before Django's own checks, which query the database."""
        connection = connections[options["database"]]
        require_sound(connection)
        try:
            with migrating(connection):
                return super().execute(*args, **options)
        except OperationalError as error:
            raise CommandError(
                f"The database of DATABASE_URL cannot be used: {redact(str(error))}"
            ) from error


def require_sound(connection: Any) -> None:
    """Raise CommandError if a move has not ended, or a check of `START_SECONDS` finds the file damaged."""
    _require_file_sound(connection)
    try:
        if state.is_unfinished(connection):
            raise CommandError(state.UNFINISHED)
    except DatabaseError:
        return  # unreachable, which the caller finds out and reports


def _require_file_sound(connection: Any) -> None:
    if connection.vendor != "sqlite":
        return
    path = Path(str(connection.settings_dict["NAME"]))
    if found := integrity.damage(path, integrity.START_SECONDS):
        raise CommandError(f"The database {path} is damaged ({found}). {integrity.DAMAGE_ADVICE}")
