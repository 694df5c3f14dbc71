"""`manage.py migrate`: Django's, one at a time for each database, and never on a damaged one."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections

from chat.backup import integrity
from chat.redaction import redact
from chatsite.locks import migrating


class Command(migrate.Command):
    """Who starts several servers at once with --prepare has one of them migrate; the others wait for it."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Before Django's own checks, which ask the database."""
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
    """Raise CommandError where the SQLite file is damaged, as far as a short look tells."""
    if connection.vendor != "sqlite":
        return
    path = Path(str(connection.settings_dict["NAME"]))
    if found := integrity.damage(path, integrity.START_SECONDS):
        raise CommandError(f"The database {path} is damaged ({found}). {integrity.ADVICE}")
