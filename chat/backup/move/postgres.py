"""PostgreSQL as one side of a move: rows come and go by COPY, on the connection of Django."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from chat.backup import servers

from .database import TableRow
from .tables import Table
from .values import FROM_POSTGRES, converter

READ_PAGES = 512  # of 8 KiB, read by one statement: 4 MiB
TABLE_COLUMNS_SQL = """
SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
AND a.attnum > 0 AND NOT a.attisdropped
AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
REFERENCES = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
# Identifies a server and one of its databases, whatever name leads there.
IDENTITY = "SELECT pg_postmaster_start_time()::text, current_database(), current_schema()"
TEXT_FORMAT_SQL = (
    "SET timezone TO 'UTC'",
    "SET datestyle TO ISO",
    "SET extra_float_digits TO 1",
    "SET bytea_output TO hex",
)


class PostgresDatabase:
    """A PostgreSQL database."""

    replaced = 0  # it holds nothing that it cannot hold

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        for statement in TEXT_FORMAT_SQL:
            self.run(statement)

    @property
    def name(self) -> str:
        settings = self._connection.settings_dict
        host = f"{settings['HOST']}:{settings['PORT']}" if settings["PORT"] else settings["HOST"]
        return f"postgresql://{host}/{settings['NAME']}"

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.run(IDENTITY)[0]

    def in_use(self) -> str:
        return servers.check_heartbeats(self._connection.alias)

    def dangling(self) -> str:
        return ""

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def columns(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for table, column in self.run(TABLE_COLUMNS_SQL):
            found.setdefault(table, set()).add(column)
        return found

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.transaction():
            self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    def transaction(self) -> Any:
        return transaction.atomic(using=self._connection.alias)

    def rows(self, table: Table, after: str = "") -> Iterator[tuple[str, TableRow]]:
        """The place is that of the row in the file. Its pages are read a few at a time, each few in order."""
        convert = converter([column.kind for column in table.columns], FROM_POSTGRES)
        columns = ", ".join(map(self._quoted, table.column_names))
        name = self._quoted(table.name)
        pages = self.run(
            "SELECT pg_relation_size(%s::regclass) / current_setting('block_size')::int", [name]
        )[0][0]
        for first in range(_page_of(after), pages, READ_PAGES):
            start, end = after or f"({first},0)", f"({first + READ_PAGES},0)"
            after = ""
            query = (
                f"SELECT ctid, {columns} FROM {name} WHERE ctid > '{start}' AND ctid < '{end}' ORDER BY ctid"  # noqa: S608
            )
            with (
                self._connection.connection.cursor() as cursor,
                cursor.copy(f"COPY ({query}) TO STDOUT") as copy,
            ):
                for place, *row in copy.rows():
                    yield place, convert(row)

    def insert(self, table: Table, rows: Iterable[TableRow]) -> None:
        columns = ", ".join(map(self._quoted, table.column_names))
        statement = f"COPY {self._quoted(table.name)} ({columns}) FROM STDIN"
        with self._connection.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def release_references(self) -> list[str]:
        """Drop the foreign keys, because tables refer to each other in circles, and rows to later rows."""
        found = self.run(REFERENCES)
        for table, name, _ in found:
            self.run(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        return [f"ALTER TABLE {table} ADD CONSTRAINT {name} {rule}" for table, name, rule in found]

    def last_number(self, table: Table) -> int:
        ((last, is_given),) = self.run(f"SELECT last_value, is_called FROM {self._sequence(table)}")  # noqa: S608
        return int(last) if is_given else int(last) - 1

    def continue_after(self, table: Table, number: int) -> None:
        self.run("SELECT setval(%s::regclass, %s, false)", [self._sequence(table), number + 1])

    def analyze(self) -> None:
        self.run("ANALYZE")

    def close(self) -> None:
        self._connection.close()

    def _sequence(self, table: Table) -> str:
        found = self.run("SELECT pg_get_serial_sequence(%s, %s)", [self._quoted(table.name), table.counter])
        return str(found[0][0])

    def _quoted(self, name: str) -> str:
        return str(self._connection.ops.quote_name(name))


def _page_of(place: str) -> int:
    """Return the page of a place such as `(12,3)`; 0 for none."""
    return int(place[1:].partition(",")[0]) if place else 0
