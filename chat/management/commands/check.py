"""`manage.py check`: Django's system checks, or, with options, a check of the whole database or a backup."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import check
from django.db import connection

from chat.backup import content, opening
from chat.backup.archive import Archive, BackupError
from chat.backup.integrity import DAMAGE_ADVICE
from chat.backup.progress import ProgressLine


class Command(check.Command):
    help = f"{check.Command.help} With --integrity, check the whole database; with --backup, check a backup."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--integrity", action="store_true", help="read the whole database and report any damage"
        )
        parser.add_argument("--backup", type=Path, help="read this backup and report any damage")

    def handle(self, *app_labels: Any, **options: Any) -> None:
        if not (options["integrity"] or options["backup"]):
            super().handle(*app_labels, **options)
            return
        progress = ProgressLine(sys.stderr)
        try:
            if options["integrity"]:
                _check_database(progress)
            if options["backup"]:
                _check_backup(options["backup"], progress)
        except (BackupError, *content.DATABASE_ERRORS) as error:
            raise CommandError(str(error)) from error
        finally:
            progress.end()
        self.stdout.write("No damage found.")


def _check_database(progress: ProgressLine) -> None:
    with closing(opening.open_own(connection)) as database:
        if found := database.damage() or database.dangling():
            raise BackupError(f"The database {database.name} is damaged ({found}). {DAMAGE_ADVICE}")
        content.read_all(database, progress)


def _check_backup(path: Path, progress: ProgressLine) -> None:
    with Archive(path) as archive:
        archive.verify(progress)
