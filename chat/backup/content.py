"""The content of a site's database: from it into an archive, and from there into another."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
from django.db import DatabaseError
from django.db.migrations.executor import MigrationExecutor

from chat.db import migration_status
from chat.telemetry.redaction import redact

from .archive import ArchiveWriter, BackupProgress
from .database import Database
from .integrity import DAMAGE_ADVICE
from .tables import BackupError, Rows, Table, TableRow, unknown

DATABASE_ERRORS = (DatabaseError, psycopg.Error, sqlite3.Error)  # of Django's connections, and of others
REPORTED_ROWS = 1_000
OTHER_TABLES = (
    "{} has tables or columns that this version of the chat does not know, and their data would be left "
    "behind: {}. Remove them, or move them to another database."
)
REBUILD_SEARCH = "UPDATE chat_searchbuild SET finished = %s, created = NULL, conversation = NULL"


class Counted:
    """Report the rows of many tables that pass by."""

    def __init__(self, doing: str, tables: list[Table], progress: BackupProgress, done: int = 0) -> None:
        self._doing, self._progress, self._done = doing, progress, done
        self._total = sum(table.rows for table in tables)
        progress(doing, done, self._total)

    def __call__(self, rows: Iterable[TableRow]) -> Iterator[TableRow]:
        for row in rows:
            yield row
            self._done += 1
            if self._done % REPORTED_ROWS == 0:
                self._progress(self._doing, self._done, self._total)
        self._progress(self._doing, self._done, self._total)


def write(database: Database, archive: ArchiveWriter, progress: BackupProgress) -> None:
    """Write all tables as of one moment, while servers may write. Raises BackupError."""
    if found := database.damage():
        raise BackupError(f"The database is damaged ({found}). {DAMAGE_ADVICE}")
    with database.snapshot():
        archive.manifest.migrations = database.migrations()
        tables = database.tables()
        require_known(database, tables)
        counted = Counted("packing the tables", tables, progress)
        for table in tables:
            archive.add_table(table, counted(database.rows(table)))


def read_all(database: Database, progress: BackupProgress) -> None:
    """Read every row of every table. Raises BackupError: when a table cannot be read."""
    tables = database.tables()
    for done, table in enumerate(tables):
        progress("reading the tables", done, len(tables))
        try:
            for _row in database.rows(table):
                pass
        except DATABASE_ERRORS as error:
            raise BackupError(f"The table {table.name} cannot be read: {error}") from error
    progress("reading the tables", len(tables), len(tables))


def require_known(database: Database, tables: list[Table]) -> None:
    """Raise BackupError if a database of this version has more than its migrations make."""
    is_ours = not migration_status.unknown(database.migrations())
    if is_ours and (found := unknown(tables)):
        raise BackupError(OTHER_TABLES.format(database.name, ", ".join(found)))


def make_tables(connection: Any, applied: list[tuple[str, str]]) -> None:
    """Apply the migrations of an archive. Those that others have replaced count as those."""
    executor = MigrationExecutor(connection)
    nodes = executor.loader.graph.node_map
    names = migration_status.translated(applied) & nodes.keys()
    executor.migrate(sorted(key for key in names if not names & {each.key for each in nodes[key].children}))


def restore(source: Rows, database: Database, progress: BackupProgress) -> None:
    """Fill the tables that the migrations of the source have made, in one transaction. Raises BackupError."""
    tables = source.tables()
    with database.transaction():
        require_same(tables, database.tables())
        empty(database, tables)  # rows that migrations wrote are in the source, too
        counted = Counted("writing the tables", tables, progress)
        for table in tables:
            fill(database, table, counted(source.rows(table)))
        finish(database, tables)


def require_same(tables: list[Table], made: list[Table]) -> None:
    """Raise BackupError if an archive has other tables or columns than its migrations make."""
    coming, there = ({(table.name, *sorted(table.columns)) for table in each} for each in (tables, made))
    if different := sorted({name for name, *_ in coming ^ there}):
        raise BackupError(f"The backup has other tables than its migrations make: {', '.join(different)}.")


def empty(database: Database, tables: list[Table]) -> None:
    for table in tables:
        database.run(f'DELETE FROM "{table.name}"')  # noqa: S608


def fill(database: Database, table: Table, rows: Iterable[TableRow]) -> None:
    """Write the rows of a table. Raises BackupError: when the database does not take all of them."""
    try:
        database.insert(table, rows)
    except DATABASE_ERRORS as error:
        why = redact(str(error).strip())
        raise BackupError(f"The table {table.name} was not copied whole: {why}") from error
    if database.count(table) != table.rows:
        raise BackupError(f"The table {table.name} did not take all rows of the backup.")


def finish(database: Database, tables: list[Table]) -> None:
    """Let the counters go on behind those of the source and the rows; have the search index built."""
    for table in tables:
        if table.counter:
            # A row may have a number that no counter gave, and a former backup does not hold its counters.
            ((highest,),) = database.run(f'SELECT MAX("{table.counter}") FROM "{table.name}"')  # noqa: S608
            database.continue_after(table, max(table.last, highest or 0))
    database.run(REBUILD_SEARCH, [False])
