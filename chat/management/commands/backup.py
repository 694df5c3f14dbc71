"""`manage.py backup <file>`: write a whole site into one verified file, while its servers run."""

import os
import secrets
import sqlite3
import sys
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.utils import timezone

from chat.backup import files, postgres, sqlite
from chat.backup.archive import SECRET_KEY, Archive, ArchiveWriter, BackupError, Manifest
from chat.backup.progress import ProgressLine

ENVIRONMENT_KEY = "The secret key is not in it: it comes from the setting SECRET_KEY. Keep that as well."


class Command(BaseCommand):
    help = (
        "Write the database, the secret key and attached files into one file, and verify it. Servers may run."
    )
    requires_system_checks = ()  # a wrong setting must not prevent a backup

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, such as chat-2027-01-31.zip")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["file"].absolute()
        if target.exists():
            raise CommandError(f"{target} exists already: name another file.")
        progress = ProgressLine(sys.stderr)
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        try:
            manifest = _write(partial, progress)
            with Archive(partial) as written:
                written.verify(progress)
            os.link(partial, target)  # unlike a rename, a link overwrites nothing
        except (BackupError, DatabaseError, sqlite3.Error, psycopg.Error, OSError) as error:
            raise CommandError(f"No backup was made: {error}") from error
        finally:
            partial.unlink(missing_ok=True)
            progress.end()
        if SECRET_KEY not in manifest.members:
            self.stderr.write(ENVIRONMENT_KEY)
        rows = sum(manifest.rows.values())
        self.stdout.write(
            f"{target}: {rows} rows of {len(manifest.rows)} tables, {target.stat().st_size} bytes."
        )


def _write(path: Path, progress: ProgressLine) -> Manifest:
    manifest = Manifest(connection.vendor, timezone.now().isoformat(timespec="seconds"))
    with ArchiveWriter(path, manifest) as archive:
        if connection.vendor == "sqlite":
            sqlite.dump(Path(connection.settings_dict["NAME"]), archive, progress)
        else:
            connection.ensure_connection()
            postgres.dump(archive, progress)
        files.dump(settings.DATA_DIR, archive, progress)
    return manifest
