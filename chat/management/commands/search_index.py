"""`manage.py search_index`: build what is missing of the search index, build all of it anew, or verify it."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from chat.backup import servers
from chat.backup.progress import ProgressLine
from chat.models import Conversation, Message, SearchBuild, SearchDocument
from chat.search import build


class Command(BaseCommand):
    help = (
        "Build what is missing of the search index. Servers may run: they do the same in the background. "
        "Stopped, it goes on from there the next time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--rebuild", action="store_true", help="empty the index first, and build all of it"
        )
        choice.add_argument(
            "--verify", action="store_true", help="compare the index with the texts; stop every server first"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._done, self._progress = 0, ProgressLine(sys.stderr)
        self._total = Message.objects.exclude(text="").count() + Conversation.objects.count()
        try:
            if options["verify"]:
                self._verify()
            else:
                self._build(anew=options["rebuild"])
        except DatabaseError as error:
            raise CommandError(f"Stopped: {error}. Run this again to go on.") from error
        finally:
            self._progress.end()

    def _build(self, *, anew: bool) -> None:
        if anew:
            build.restart()
        build.build(
            lambda added: self._report("building the index", added),
            beside_servers=lambda: bool(servers.check_heartbeats()),
        )
        self.stdout.write(f"The search index is complete: {SearchDocument.objects.count()} documents.")

    def _verify(self) -> None:
        if SearchBuild.objects.is_running():
            raise CommandError("The search index is still being built. Run `manage.py search_index` first.")
        found = build.verify(lambda compared: self._report("comparing the documents", compared))
        if found.total:
            raise CommandError(
                f"The search index differs from the texts: {found.missing} missing, {found.stale} without a "
                f"text, {found.different} different. Build it anew with `manage.py search_index --rebuild`."
            )
        self.stdout.write(f"The search index agrees with all {self._done} documents.")

    def _report(self, doing: str, more: int) -> None:
        self._done += more
        self._progress(doing, self._done, max(self._done, self._total))
