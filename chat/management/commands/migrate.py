"""`manage.py migrate`: Django's command, serialised for each database, and refused on a damaged one."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations.recorder import MigrationRecorder

from chat.db import migration_status
from chat.db.locks import migrating
from chat.health.start import require_sound
from chat.telemetry.redaction import redact


class Command(migrate.Command):
    """Serialise migrations: of several servers started with --prepare one migrates, and the others wait."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Check the file and take the lock before Django's own checks, which query the database."""
        connection = connections[options["database"]]
        require_sound(connection)
        try:
            if migration_status.is_too_old(MigrationRecorder(connection).applied_migrations()):
                raise CommandError(f"The database of DATABASE_URL {migration_status.TOO_OLD}")
            with migrating(connection):
                return super().execute(*args, **options)
        except OperationalError as error:
            raise CommandError(
                f"The database of DATABASE_URL cannot be used: {redact(str(error))}"
            ) from error
