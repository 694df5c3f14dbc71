"""PostgreSQL: rows come and go by COPY, on a connection of Django. It needs no client program."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from . import servers
from .database import Database
from .tables import FROM_POSTGRES, STORABLE_IN_POSTGRES, Table, TableRow, converter, kind_of

# Without what belongs to an extension, and without generated columns, which cannot be written.
OWN = "NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = {}.oid AND d.deptype = 'e')"
TABLE_NAMES = f"""
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND {OWN.format("c")}
ORDER BY 1
"""  # noqa: S608
COLUMNS = """
SELECT attname, format_type(atttypid, NULL), pg_get_serial_sequence(quote_ident(%s), attname) IS NOT NULL
FROM pg_attribute
WHERE attrelid = quote_ident(%s)::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY attnum
"""
FUNCTIONS = f"""
SELECT p.oid::regprocedure::text FROM pg_proc p
WHERE p.pronamespace = current_schema()::regnamespace AND {OWN.format("p")}
"""  # noqa: S608
REFERENCES = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
# Identifies a server and one of its databases, whatever name leads there.
IDENTITY = "SELECT pg_postmaster_start_time()::text, current_database(), current_schema()"
# One form of values; and rows in the order in which they are stored, which keeps a conversation together.
TEXT_FORMAT = (
    "SET timezone TO 'UTC'; SET datestyle TO ISO; SET extra_float_digits TO 1; SET bytea_output TO hex; "
    "SET synchronize_seqscans TO off"
)


class PostgresDatabase(Database):
    def __init__(self, connection: Any) -> None:
        self._connection = connection
        settings = connection.settings_dict
        host = f"{settings['HOST']}:{settings['PORT']}" if settings["PORT"] else settings["HOST"]
        self.name = f"postgresql://{host}/{settings['NAME']}"
        self.run(TEXT_FORMAT)

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.run(IDENTITY)[0]

    def in_use(self) -> str:
        return servers.check_heartbeats(self._connection.alias)

    def size(self) -> int:
        return int(self.run("SELECT pg_database_size(current_database())")[0][0])

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def table_names(self) -> list[str]:
        return [name for (name,) in self.run(TABLE_NAMES)]

    def _table(self, name: str) -> Table:
        table = Table(name, {})
        for column, kind, is_counter in self.run(COLUMNS, [name, name]):
            table.columns[column] = kind_of(f"{name}.{column}", kind)
            table.counter = column if is_counter else table.counter
        return table

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.transaction():
            self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    def transaction(self) -> Any:
        return transaction.atomic(using=self._connection.alias)

    def rows(self, table: Table) -> Iterator[TableRow]:
        convert = converter(table.kinds, FROM_POSTGRES)
        statement = f"COPY (SELECT {self._columns(table)} FROM {self._quoted(table.name)}) TO STDOUT"  # noqa: S608
        with self._connection.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in copy.rows():
                yield convert(row)

    def insert(self, table: Table, rows: Iterable[TableRow]) -> None:
        convert = converter(table.kinds, STORABLE_IN_POSTGRES)
        statement = f"COPY {self._quoted(table.name)} ({self._columns(table)}) FROM STDIN"
        with self._connection.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(convert(row))

    def put_aside(self, schema: str) -> bool:
        """Move the tables and functions unchanged into a new schema. Return True if there were any."""
        if not (names := self.table_names()):
            return False
        self.run(f"CREATE SCHEMA {self._quoted(schema)}")
        for name in names:
            self.run(f"ALTER TABLE {self._quoted(name)} SET SCHEMA {self._quoted(schema)}")
        for (function,) in self.run(FUNCTIONS):
            self.run(f"ALTER ROUTINE {function} SET SCHEMA {self._quoted(schema)}")
        return True

    def release_references(self) -> list[str]:
        """Drop the foreign keys, because tables refer to each other in circles, and rows to later rows."""
        found = self.run(REFERENCES)
        for table, name, _ in found:
            self.run(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        return [f"ALTER TABLE {table} ADD CONSTRAINT {name} {rule}" for table, name, rule in found]

    def _last_number(self, table: Table) -> int:
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

    def _columns(self, table: Table) -> str:
        return ", ".join(map(self._quoted, table.columns))

    def _quoted(self, name: str) -> str:
        return str(self._connection.ops.quote_name(name))
