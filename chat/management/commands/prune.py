"""`manage.py prune`: delete old rows and files for good, as the settings say."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from chat.files.problems import StorageUnavailable
from chat.retention import kinds
from chat.retention.deletion import never


class Command(BaseCommand):
    help = (
        "Permanently delete expired sessions, old invitations and API calls, and deleted chats. "
        "Servers can keep running."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only show how much would be deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        dry = options["dry_run"]
        try:
            found = kinds.count() if dry else kinds.prune(never)
        except (DatabaseError, OSError, StorageUnavailable) as error:
            reason = f"Pruning stopped: {str(error).rstrip('.')}."
            raise CommandError(f"{reason} What is already deleted stays deleted.") from error
        for name, rows in found.items():
            self.stdout.write(f"{'would delete' if dry else 'deleted'} {rows} {name}")
