"""`manage.py move --from <address>`: copy a whole site into the database that the settings name."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from chat.backup.move import checks, copying, opening, state, verification
from chat.backup.move.database import Database
from chat.backup.move.errors import MoveError
from chat.backup.move.tables import Table, moved_tables
from chat.backup.progress import ProgressLine
from chat.db.locks import migrating, preparing
from chat.telemetry.redaction import redact

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
        self._rows_done, self._progress = 0, ProgressLine(sys.stderr, unit="rows")
        try:
            # Every server takes this lock before it starts, so none starts during the move.
            with (
                preparing(settings.DATA_DIR),
                _both(options["source"]) as both,
            ):
                self._run(*both, only_verify=options["verify"])
        except KeyboardInterrupt:
            raise CommandError(f"Stopped. {GO_ON}", returncode=130) from None
        except MoveError as error:
            raise CommandError(str(error)) from error
        except (DatabaseError, sqlite3.Error, psycopg.Error, OSError) as error:
            raise CommandError(f"Stopped: {redact(str(error).strip())} {GO_ON}") from error
        finally:
            self._progress.end()
            connection.close()

    def _run(self, source: Database, target: Database, *, only_verify: bool) -> None:
        tables = moved_tables()
        checks.require_no_server(source, target, settings.DATA_DIR)
        checks.require_movable(source, target, tables)
        if only_verify:
            self._compare(source, target, tables)
            return
        if not checks.is_begun(target):
            checks.require_empty(target, tables)
            copying.begin(source, target, tables)
        record = state.load(target, source.name)
        self._copy(source, target, tables, record)
        rows = self._compare(source, target, tables)
        if found := target.dangling():
            raise MoveError(f"The copy is not whole: {found}.")
        checks.require_no_server(source, target, settings.DATA_DIR)
        copying.finish(source, target, tables, record.statements)
        self.stdout.write(MOVE_ENDED.format(rows, len(tables), source.name))
        self.stdout.flush()

    def _copy(self, source: Database, target: Database, tables: list[Table], record: state.MoveState) -> None:
        self._total = sum(_count(source, table) for table in tables)
        self._rows_done = sum(record.copied.values())
        copying.copy(source, target, tables, record, lambda rows: self._report("copying", rows))

    def _compare(self, source: Database, target: Database, tables: list[Table]) -> int:
        """Print a line for each table. Return the number of rows. Raises MoveError: when a table differs."""
        self._total = sum(_count(side, table) for side in (source, target) for table in tables)
        self._rows_done = 0
        found = list(
            verification.compare(source, target, tables, lambda rows: self._report("verifying", rows))
        )
        self._progress.end()
        self.stdout.write(f"{'table':<32}{'source':>12}{'target':>12}  digest of all values")
        for each in found:
            says = f"{each.source.digest} same" if each.is_same else f"{each.source.digest} DIFFERENT"
            self.stdout.write(f"{each.table:<32}{each.source.rows:>12,}{each.target.rows:>12,}  {says}")
        if replaced := sum(each.replaced for each in found):
            self.stdout.write(REPLACED.format(replaced))
        if different := [each.table for each in found if not each.is_same]:
            raise MoveError(DATABASES_DIFFER.format(", ".join(different)))
        return sum(each.source.rows for each in found)

    def _report(self, doing: str, rows: int) -> None:
        self._rows_done += rows
        self._progress(doing, self._rows_done, self._total)


@contextmanager
def _both(source_url: str) -> Iterator[tuple[Database, Database]]:
    """Open both databases, and let nobody migrate the target meanwhile."""
    source, target = opening.open_source(source_url), opening.open_target(connection)
    with migrating(connection):
        try:
            yield source, target
        finally:
            source.close()
            if connection.vendor == "sqlite":
                target.close()


def _count(database: Database, table: Table) -> int:
    return int(database.run(f'SELECT COUNT(*) FROM "{table.name}"')[0][0])  # noqa: S608
