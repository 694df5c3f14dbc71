"""`manage.py move --from <address>`: copy a whole site into the database that the settings name."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from chat.backup import content, moving, opening
from chat.backup.database import Database
from chat.backup.integrity import MOVE
from chat.backup.progress import ProgressLine
from chat.backup.tables import BackupError, Table
from chat.db.locks import migrating, preparing
from chat.telemetry.redaction import redact

ARCHIVE = "move.zip"  # in DATA_DIR, until the move has ended
GO_ON = "Run the same command again to go on."
DATABASES_DIFFER = (
    "The databases differ in {}. Perhaps the source has changed since the copy. To copy it again, use a new "
    "and migrated database."
)
REPLACED = (
    "{} values held a NUL or half a character, which PostgreSQL cannot hold: the copy has U+FFFD there."
)
MOVE_ENDED = (
    "Moved {:,} rows in {} tables from {}, which is unchanged. Servers can be started now. They build the "
    "index of the search in the background; `manage.py search_index` builds it at once."
)


class Command(BaseCommand):
    help = (
        "Copy a whole site into the database of DATABASE_URL, which must be migrated and without people. "
        "Stop all servers first. Stopped, it goes on from there the next time."
    )
    requires_system_checks = ()  # a wrong setting of the models must not prevent a move

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--from",
            required=True,
            dest="source",
            metavar="DATABASE_URL",
            help="address of the database to copy, which is only read",
        )
        parser.add_argument(
            "--verify", action="store_true", help="copy nothing, only compare all rows of both databases"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._progress = ProgressLine(sys.stderr, unit="rows")
        try:
            # Every server takes this lock before it starts, so none starts during the move.
            with preparing(settings.DATA_DIR), _both(options["source"]) as both:
                self._run(*both, only_verify=options["verify"])
        except KeyboardInterrupt:
            raise CommandError(f"Stopped. {GO_ON}", returncode=130) from None
        except BackupError as error:
            raise CommandError(str(error)) from error
        except (OSError, *content.DATABASE_ERRORS) as error:
            raise CommandError(f"Stopped: {redact(str(error).strip())} {GO_ON}") from error
        finally:
            self._progress.end()
            connection.close()

    def _run(self, source: Database, target: Database, *, only_verify: bool) -> None:
        tables, path = source.tables(), settings.DATA_DIR / ARCHIVE
        moving.require_no_server(source, target, settings.DATA_DIR)
        moving.require_movable(source, target, tables)
        if only_verify:
            self._compare(source, target, tables)
            return
        if MOVE not in target.table_names():
            moving.require_empty(target, tables)
            moving.begin(source, target, path, self._progress)
        moving.go_on(source, target, path, self._progress)
        rows = self._compare(source, target, tables)
        if found := target.dangling():
            raise BackupError(f"The copy is not whole: {found}.")
        moving.require_no_server(source, target, settings.DATA_DIR)
        moving.finish(target, path)
        self.stdout.write(MOVE_ENDED.format(rows, len(tables), source.name))
        self.stdout.flush()

    def _compare(self, source: Database, target: Database, tables: list[Table]) -> int:
        """Print a line for each table. Return the number of rows. Raises BackupError: when one differs."""
        counted = content.Counted("verifying", tables + target.tables(), self._progress)
        found = list(moving.compare(source, target, tables, counted))
        self._progress.end()
        self.stdout.write(f"{'table':<32}{'source':>12}{'target':>12}  digest of all values")
        for each in found:
            says = f"{each.source.digest} same" if each.is_same else f"{each.source.digest} DIFFERENT"
            self.stdout.write(f"{each.table:<32}{each.source.rows:>12,}{each.target.rows:>12,}  {says}")
        if (replaced := sum(each.replaced for each in found)) and connection.vendor == "postgresql":
            self.stdout.write(REPLACED.format(replaced))
        if different := [each.table for each in found if not each.is_same]:
            raise BackupError(DATABASES_DIFFER.format(", ".join(different)))
        return sum(each.source.rows for each in found)


@contextmanager
def _both(source_url: str) -> Iterator[tuple[Database, Database]]:
    """Open both databases, and let nobody migrate the target meanwhile."""
    source, target = opening.open_source(source_url), opening.open_own(connection)
    with migrating(connection), closing(source), closing(target):
        yield source, target
