"""`manage.py backup <file>`: write a whole site into one verified file, while its servers run."""

import secrets
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from chat.backup import content, files, opening
from chat.backup.archive import SECRET_KEY_FILE, Archive, ArchiveWriter, BackupError, Manifest, damaged_files
from chat.backup.integrity import UNFINISHED, is_half_moved
from chat.backup.progress import ProgressLine

ENVIRONMENT_KEY = (
    "The backup does not contain the secret key, which comes from the SECRET_KEY setting. Keep a copy of it."
)
DAMAGED_ATTACHMENTS = (
    "These attachments are damaged, in DATA_DIR and so in the backup. Copy them back from an older backup, "
    "or add the same files to a message again:"
)
BUCKET = (
    "The backup does not contain the attachments, which are in the bucket of ATTACHMENTS_S3_BUCKET. "
    "Keep a copy of it."
)


class Command(BaseCommand):
    help = (
        "Write the database, the secret key and attached files to one file and verify it. "
        "Servers can keep running."
    )
    requires_system_checks = ()  # a wrong setting must not prevent a backup

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="path of the new file, such as chat-2027-01-31.zip")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["file"].absolute()
        if target.exists():
            raise CommandError(f"{target} already exists. Choose another file name.")
        progress = ProgressLine(sys.stderr)
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        try:
            manifest = _write(partial, progress)
            with Archive(partial) as archive:
                archive.verify(progress)
            files.add_name(partial, target)
        except (BackupError, OSError, *content.DATABASE_ERRORS) as error:
            raise CommandError(f"No backup was made: {error}") from error
        finally:
            partial.unlink(missing_ok=True)
            progress.end()
        if damaged := damaged_files(manifest):
            self.stderr.write("\n".join([DAMAGED_ATTACHMENTS, *damaged]))
        if SECRET_KEY_FILE not in manifest.members:
            self.stderr.write(ENVIRONMENT_KEY)
        if settings.ATTACHMENTS_S3_BUCKET:
            self.stderr.write(BUCKET)
        rows, tables, size = manifest.count(), len(manifest.tables), target.stat().st_size
        self.stdout.write(f"Wrote {target}: {rows} rows in {tables} tables, {size} bytes.")


def _write(path: Path, progress: ProgressLine) -> Manifest:
    manifest = Manifest(timezone.now().replace(microsecond=0))
    if is_half_moved(connection):
        raise BackupError(UNFINISHED)
    with closing(opening.open_own(connection)) as database, ArchiveWriter(path, manifest) as archive:
        content.write(database, archive, progress)
        files.dump(settings.DATA_DIR, archive, progress)
    return manifest
