"""`manage.py prune`: delete old rows and files for good, as the settings say."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from chat.retention import batches, kinds


class Command(BaseCommand):
    help = "Delete expired sessions, old invitations and calls, and deleted conversations. Servers may run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count what would be deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        dry = options["dry_run"]
        try:
            found = kinds.count() if dry else kinds.prune(batches.never)
        except (DatabaseError, OSError) as error:
            raise CommandError(f"Pruning stopped: {error}. What was deleted before stays so.") from error
        for name, rows in found.items():
            self.stdout.write(f"{'would delete' if dry else 'deleted'} {rows} {name}")
