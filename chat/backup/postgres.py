"""Backup of PostgreSQL: every table by COPY, in one snapshot.

It needs no client program, which would have to be of the server's version.
The schema is not copied: a restore makes it by applying the migrations that the manifest lists.
"""

from collections.abc import Iterator
from typing import Any

import psycopg
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from chat.db import migration_status

from . import access
from .archive import TABLES_FOLDER, Archive, ArchiveWriter, BackupError, BackupProgress
from .former_columns import FORMER_COLUMNS

# Without generated columns, which cannot be written.
STORED_COLUMNS_SQL = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position
"""
# Without the functions of extensions, which stay in their schema.
FUNCTIONS = """
SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
"""
SEQUENCES = """
SELECT pg_get_serial_sequence(quote_ident(table_name), column_name), table_name, column_name
FROM information_schema.columns
WHERE table_schema = current_schema()
AND pg_get_serial_sequence(quote_ident(table_name), column_name) IS NOT NULL
"""


def dump(archive: ArchiveWriter, progress: BackupProgress) -> None:
    """Copy all tables in one read-only transaction, during which servers may write. Raises BackupError."""
    with transaction.atomic():
        _run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        archive.manifest.migrations = _applied()
        tables = _tables()
        for done, table in enumerate(tables):
            progress("copying the tables", done, len(tables))
            rows = _run(f"SELECT COUNT(*) FROM {_quoted(table)}")[0][0]  # noqa: S608
            # One row is one line, because COPY escapes line breaks within a text as \n.
            if archive.add(f"{TABLES_FOLDER}{table}", _copied_out(table)) != rows:
                raise BackupError(f"The table {table} was not copied whole.")
            archive.manifest.rows[table], archive.manifest.columns[table] = rows, _columns(table)
        progress("copying the tables", len(tables), len(tables))


def _copied_out(table: str) -> Iterator[bytes]:
    columns = ", ".join(_quoted(name) for name in _columns(table))
    statement = f"COPY (SELECT {columns} FROM {_quoted(table)}) TO STDOUT"  # noqa: S608
    with connection.connection.cursor() as cursor, cursor.copy(statement) as copy:
        yield from copy


def read_all(progress: BackupProgress) -> None:
    """Read every row of every table. Raises BackupError: when a table cannot be read."""
    connection.ensure_connection()
    tables = _tables()
    for done, table in enumerate(tables):
        progress("reading the tables", done, len(tables))
        try:
            for _piece in _copied_out(table):
                pass
        except psycopg.Error as error:
            raise BackupError(f"The table {table} cannot be read: {error}") from error
    progress("reading the tables", len(tables), len(tables))


def has_data() -> bool:
    """Return True if there is a user, so that a restore would replace data."""
    return "chat_user" in _tables() and bool(_run("SELECT 1 FROM chat_user LIMIT 1"))


def restore(archive: Archive, aside: str, progress: BackupProgress) -> tuple[bool, list[str]]:
    """Replace the database's content by the backup's, in one transaction. Raises BackupError.

    The existing tables and functions move unchanged into a new schema with the name `aside`. Return True if
    there were any, and the sentences of `access`.
    """
    with transaction.atomic():
        _run("SET LOCAL lock_timeout = '10s'")
        # A table cannot be altered while one of its rows waits for a deferred constraint check.
        _run("SET CONSTRAINTS ALL IMMEDIATE")
        had_data = has_data()
        kept = _put_aside(aside)
        progress("making the tables", 0, 1)
        executor = MigrationExecutor(connection)
        executor.migrate(_leaves(executor, archive.manifest.migrations))
        progress("making the tables", 1, 1)
        _run("SET CONSTRAINTS ALL DEFERRED")
        _fill(archive, progress)
        _run("SET CONSTRAINTS ALL IMMEDIATE")
        sentences = access.close(_run, archive.manifest.rows)
        if had_data:
            sentences += access.older(_run, _quoted(aside))
    return kept, sentences


def _put_aside(schema: str) -> bool:
    tables = _tables()
    if not tables:
        return False
    _run(f"CREATE SCHEMA {_quoted(schema)}")
    for table in tables:
        _run(f"ALTER TABLE {_quoted(table)} SET SCHEMA {_quoted(schema)}")
    for (function,) in _run(FUNCTIONS):
        _run(f"ALTER ROUTINE {function} SET SCHEMA {_quoted(schema)}")
    return True


def _leaves(executor: MigrationExecutor, applied: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the leaves among the applied migrations, those that no other applied one depends on.

    Migrations that others have replaced count as those.
    """
    nodes = executor.loader.graph.node_map
    names = migration_status.translated(applied)
    names &= nodes.keys()
    return sorted(key for key in names if not any(child.key in names for child in nodes[key].children))


def _fill(archive: Archive, progress: BackupProgress) -> None:
    rows = archive.manifest.rows
    tables = _tables()
    if set(tables) != set(rows):
        different = ", ".join(sorted(set(tables) ^ set(rows)))
        raise BackupError(f"The backup has other tables than its migrations make: {different}.")
    _run(f"TRUNCATE {', '.join(map(_quoted, tables))}")  # rows that migrations wrote are in the backup, too
    for done, table in enumerate(tables):
        progress("writing the tables", done, len(tables))
        _copy_in(archive, table)
        if _run(f"SELECT COUNT(*) FROM {_quoted(table)}")[0][0] != rows[table]:  # noqa: S608
            raise BackupError(f"The table {table} did not take all rows of the backup.")
    for sequence, table, column in _run(SEQUENCES):
        last = f"(SELECT MAX({_quoted(column)}) FROM {_quoted(table)})"  # noqa: S608
        _run(f"SELECT setval(%s, COALESCE({last}, 0) + 1, false)", [sequence])
    progress("writing the tables", len(tables), len(tables))


def _copy_in(archive: Archive, table: str) -> None:
    names = archive.manifest.columns.get(table)
    if names is None:  # a backup of 5b079f9, or a table whose columns have kept their order since
        names = FORMER_COLUMNS[table].split() if table in FORMER_COLUMNS else _columns(table)
    statement = f"COPY {_quoted(table)} ({', '.join(map(_quoted, names))}) FROM STDIN"
    with connection.connection.cursor() as cursor, cursor.copy(statement) as copy:
        for piece in archive.read(f"{TABLES_FOLDER}{table}"):
            copy.write(piece)


def _applied() -> list[tuple[str, str]]:
    rows = MigrationRecorder(connection).migration_qs.order_by("id")
    return [(row.app, row.name) for row in rows]


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        return sorted(connection.introspection.table_names(cursor))


def _columns(table: str) -> list[str]:
    return [name for (name,) in _run(STORED_COLUMNS_SQL, [table])]


def _run(statement: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
