"""`manage.py restore <file>`: put a site back into the state of a backup, or leave it unchanged."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from chat.backup import content, files, restoring, servers
from chat.backup.archive import (
    SECRET_KEY_FILE,
    SQLITE_MEMBER,
    TABLES_FOLDER,
    Archive,
    BackupError,
    FormerManifest,
)
from chat.backup.progress import ProgressLine
from chat.db import migration_status
from chat.db.locks import migrating, preparing

DATA = (
    "The database already contains data. Use --force to replace it with the backup. The current data is kept "
    "in a separate place."
)
FILES_STAYED = (
    "The database was restored, but not all files: {}. Mend that, then restore again with --force. Files "
    "that were replaced are kept, with {} in their names."
)
KEPT = "The previous data is kept as {}."


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
            with preparing(settings.DATA_DIR), Archive(options["file"]) as archive:
                _refuse(archive, force=options["force"])
                archive.verify(progress)
                archive.check_space(_folders())
                sentences = _restore(archive, progress)
        except (BackupError, OSError, *content.DATABASE_ERRORS) as error:
            raise CommandError(f"Nothing was restored: {error}") from error
        finally:
            progress.end()
            connection.close()
        for sentence in sentences:
            self.stdout.write(sentence)
        rows = archive.manifest.count()
        self.stdout.write(
            f"Restored {rows} rows from the backup of {archive.manifest.created:%Y-%m-%d %H:%M %Z}. "
            "Run `manage.py migrate`, then start the server."
        )


def _refuse(archive: Archive, *, force: bool) -> None:
    """Raise BackupError if the database is in use, or the backup does not fit; over data, unless `force`."""
    if reason := servers.check_process_locks(settings.DATA_DIR) or restoring.own().in_use():
        raise BackupError(reason)
    manifest = archive.manifest
    if isinstance(manifest, FormerManifest) and manifest.engine != connection.vendor:
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
    if not force and restoring.has_data():
        raise BackupError(DATA)


def _restore(archive: Archive, progress: ProgressLine) -> list[str]:
    """Restore database and files: first the steps that may fail, last those that replace.

    Return sentences: where the replaced data is kept, and what is closed or open again. Raises CommandError:
    when the database was replaced and the files were not.
    """
    suffix = f".before-restore-{timezone.now():%Y%m%d-%H%M%S}"
    folder: Path = settings.DATA_DIR
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=folder) as name, migrating(connection):
        new = Path(name)
        files.unpack(archive, new)
        place, sentences = restoring.restore(archive, new, suffix, progress)
        kept = [KEPT.format(place)] if place else []
        try:
            kept += [KEPT.format(path) for path in files.replace(folder, new, suffix)]
        except OSError as error:
            told = [FILES_STAYED.format(error, suffix), *kept, *sentences]
            raise CommandError("\n".join(told)) from error
        return kept + sentences


def _folders() -> dict[str, Path]:
    """Return where the members are written, by the beginnings of their names; PostgreSQL has its own disk."""
    folders = dict.fromkeys((SECRET_KEY_FILE, *files.FILE_FOLDERS), settings.DATA_DIR)
    if connection.vendor == "sqlite":
        folders |= dict.fromkeys((TABLES_FOLDER, SQLITE_MEMBER), restoring.own_file().parent)
    return folders
