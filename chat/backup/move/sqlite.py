"""SQLite as one side of a move, on a connection of its own that returns values as they are stored."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chat.backup import sqlite as files

from .database import TableRow
from .tables import Table
from .values import FROM_SQLITE, ColumnKind, converter, storable_json, storable_text

READ_ROWS = 500  # fetched at once
CACHE_KIB = -65_536  # KiB of pages: random keys change pages all over the indexes
TABLES = """
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
AND name NOT LIKE 'chat\\_search\\_words\\_%' ESCAPE '\\'
"""


class SqliteDatabase:
    """A SQLite file. A source is opened so that it cannot be written."""

    def __init__(self, path: Path, *, is_source: bool) -> None:
        self.replaced = 0
        self.path = path.absolute()
        self._mode = "ro" if is_source else "rw"
        self._opened: sqlite3.Connection | None = None

    @property
    def name(self) -> str:
        return f"sqlite:///{self.path}"

    @property
    def identity(self) -> tuple[Any, ...]:
        found = os.stat(self.path)
        return "sqlite", found.st_dev, found.st_ino

    def in_use(self) -> str:
        self.close()
        return f"Another process has {self.path} open. Stop it first." if files.is_used(self.path) else ""

    def dangling(self) -> str:
        return files.dangling(self.path)

    @property
    def _session(self) -> sqlite3.Connection:
        if self._opened is None:
            uri = f"file:{quote(str(self.path))}?mode={self._mode}"
            self._opened = sqlite3.connect(uri, uri=True, timeout=20, isolation_level=None)
            self._opened.execute(f"PRAGMA cache_size={CACHE_KIB}")
            if self._mode == "rw":
                self._opened.execute("PRAGMA synchronous=NORMAL")
        return self._opened

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._session.execute(statement.replace("%s", "?"), values).fetchall()

    def columns(self) -> dict[str, set[str]]:
        return {
            table: {name for (name,) in self.run("SELECT name FROM pragma_table_info(%s)", [table])}
            for (table,) in self.run(TABLES)
        }

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self.run("BEGIN")
        try:
            yield
        finally:
            self.run("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.run("ROLLBACK")
            raise
        self.run("COMMIT")

    def rows(self, table: Table, after: str = "") -> Iterator[tuple[str, TableRow]]:
        """The place is SQLite's own number of the row, which is the primary key where that is a number."""
        convert = converter(
            [column.kind for column in table.columns],
            FROM_SQLITE | {ColumnKind.TEXT: self._text, ColumnKind.JSON: self._json},
        )
        columns = ", ".join(f'"{name}"' for name in table.column_names)
        behind = f"WHERE rowid > {int(after)}" if after else ""
        cursor = self._session.execute(f'SELECT rowid, {columns} FROM "{table.name}" {behind} ORDER BY rowid')  # noqa: S608
        while rows := cursor.fetchmany(READ_ROWS):
            for place, *row in rows:
                yield str(place), convert(row)

    def _text(self, value: Any) -> Any:
        stored = storable_text(value)
        self.replaced += stored is not value
        return stored

    def _json(self, value: str) -> str:
        stored = storable_json(value)
        self.replaced += stored != value
        return stored

    def insert(self, table: Table, rows: Iterable[TableRow]) -> None:
        columns = ", ".join(f'"{name}"' for name in table.column_names)
        marks = ", ".join("?" * len(table.columns))
        self._session.executemany(f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})', rows)  # noqa: S608

    def release_references(self) -> list[str]:
        """Nothing to do: SQLite checks references only where a connection asks for it."""
        return []

    def last_number(self, table: Table) -> int:
        found = self.run("SELECT seq FROM sqlite_sequence WHERE name = %s", [table.name])
        return int(found[0][0]) if found else 0

    def continue_after(self, table: Table, number: int) -> None:
        self.run("DELETE FROM sqlite_sequence WHERE name = %s", [table.name])
        self.run("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table.name, number])

    def analyze(self) -> None:
        """Nothing: an ANALYZE makes SQLite plan badly for tables that grow (see `chat.models.message`)."""

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None
