"""`manage.py restore <file>`: put a site back into the state of a backup, or leave it unchanged."""

import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.utils import timezone

from chat.backup import files, postgres, servers, sqlite
from chat.backup.archive import SECRET_KEY_FILE, SQLITE_MEMBER, Archive, BackupError
from chat.backup.progress import ProgressLine
from chat.db import migration_status
from chat.db.locks import migrating, preparing

DATA = (
    "The database already contains data. Use --force to replace it with the backup. The current data is kept "
    "in a separate place."
)


class Command(BaseCommand):
    help = "Verify a backup, then replace the database with it. Stop all servers first."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a file written by `manage.py backup`")
        parser.add_argument(
            "--force", action="store_true", help="replace existing data, which is kept in a separate place"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        progress = ProgressLine(sys.stderr)
        try:
            # Every server takes this lock before it starts, so none starts during the restore.
            with (
                preparing(settings.DATA_DIR),
                Archive(options["file"]) as archive,
            ):
                _refuse(archive, force=options["force"])
                archive.verify(progress)
                archive.check_space(_folders())
                sentences = _restore(archive, progress)
        except (BackupError, DatabaseError, sqlite3.Error, psycopg.Error, OSError) as error:
            raise CommandError(f"Nothing was restored: {error}") from error
        finally:
            progress.end()
            connection.close()
        for sentence in sentences:
            self.stdout.write(sentence)
        rows = sum(archive.manifest.rows.values())
        self.stdout.write(
            f"Restored {rows} rows from the backup of {archive.manifest.created:%Y-%m-%d %H:%M %Z}. "
            "Run `manage.py migrate`, then start the server."
        )


def _refuse(archive: Archive, *, force: bool) -> None:
    """Raise BackupError if the database is in use, or the backup does not fit; over data, unless `force`."""
    if reason := servers.check_process_locks(settings.DATA_DIR) or _is_used():
        raise BackupError(reason)
    manifest = archive.manifest
    if manifest.engine != connection.vendor:
        raise BackupError(
            f"The backup is from {manifest.engine}, but DATABASE_URL points to {connection.vendor}."
        )
    if newer := migration_status.unknown(manifest.migrations):
        raise BackupError(
            f"The backup was made by a newer version, which has the migration {'.'.join(newer[0])}. "
            "Install that version first."
        )
    if migration_status.is_too_old(manifest.migrations):
        raise BackupError(f"The backup {migration_status.TOO_OLD}")
    if not force and (_sqlite_has_data() if connection.vendor == "sqlite" else postgres.has_data()):
        raise BackupError(DATA)


def _is_used() -> str:
    if connection.vendor != "sqlite":
        return servers.check_heartbeats()
    return f"Another process has {_file()} open. Stop it first." if sqlite.is_used(_file()) else ""


def _restore(archive: Archive, progress: ProgressLine) -> list[str]:
    """Restore database and files: first the steps that may fail, last those that replace.

    Return sentences: where the replaced data is kept, and what `access` has done and found.
    """
    suffix = f".before-restore-{timezone.now():%Y%m%d-%H%M%S}"
    folder: Path = settings.DATA_DIR
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=folder) as name:
        new = Path(name)
        files.unpack(archive, new)
        if connection.vendor == "sqlite":
            kept, sentences = _replace_file(archive, suffix)
        else:
            schema = suffix.removeprefix(".").replace("-", "_")
            with migrating(connection):
                existed, sentences = postgres.restore(archive, schema, progress)
            kept = [f"the schema {schema}"] if existed else []
        kept += [str(path) for path in files.replace(folder, new, suffix)]
        return [f"The previous data is kept as {what}." for what in kept] + sentences


def _folders() -> dict[str, Path]:
    """Return where the members are written, by the beginnings of their names; tables are the server's."""
    folders = dict.fromkeys((SECRET_KEY_FILE, *files.FILE_FOLDERS), settings.DATA_DIR)
    return folders | ({SQLITE_MEMBER: _file().parent} if connection.vendor == "sqlite" else {})


def _replace_file(archive: Archive, suffix: str) -> tuple[list[str], list[str]]:
    new, aside = Path(f"{_file()}.restoring"), Path(f"{_file()}{suffix}")
    connection.close()
    try:
        new.unlink(missing_ok=True)
        sqlite.unpack(archive, new)
        sentences = sqlite.close_access(new, _file())
        existed = _file().exists()
        sqlite.replace(_file(), new, aside)
    finally:
        new.unlink(missing_ok=True)
    return [str(aside)] if existed else [], sentences


def _sqlite_has_data() -> bool:
    return sqlite.has_data(_file())


def _file() -> Path:
    return Path(connection.settings_dict["NAME"])
