"""A SQLite file, on a connection of its own that returns values as they are stored.

There is no ANALYZE after a move: it makes SQLite plan badly for tables that grow (see `chat.models.message`).
References need no release: SQLite checks them only where a connection asks for it.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .database import Database
from .files import add_name
from .integrity import damage
from .tables import FROM_SQLITE, Table, TableRow, converter, kind_of

READ_ROWS = 500  # fetched at once
CACHE_KIB = -65_536  # KiB of pages: random keys change pages all over the indexes
SIDE_FILES = ("-wal", "-shm", "-journal")
TABLE_NAMES = """
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
AND name NOT LIKE 'chat\\_search\\_words\\_%' ESCAPE '\\' ORDER BY name
"""
COLUMNS = "SELECT name, lower(type), pk FROM pragma_table_xinfo(%s) WHERE hidden = 0"


class SqliteDatabase(Database):
    """A SQLite file. One that `is_source` is opened so that it cannot be written."""

    def __init__(self, path: Path, *, is_source: bool = False) -> None:
        self.path = path.absolute()
        self.name = f"sqlite:///{self.path}"
        self._mode = "ro" if is_source else "rw"
        self._opened: sqlite3.Connection | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        found = os.stat(self.path)
        return "sqlite", found.st_dev, found.st_ino

    def in_use(self) -> str:
        self.close()
        return f"Another process has {self.path} open. Stop it first." if is_used(self.path) else ""

    def damage(self) -> str:
        return damage(self.path, thorough=True)

    def dangling(self) -> str:
        row = self.run('SELECT "table", parent, COUNT(*) FROM pragma_foreign_key_check')[0]
        return f"{row[2]} rows of {row[0]} refer to rows of {row[1]} that are not there" if row[2] else ""

    def size(self) -> int:
        return self.path.stat().st_size

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

    def table_names(self) -> list[str]:
        return [name for (name,) in self.run(TABLE_NAMES)]

    def _table(self, name: str) -> Table:
        table = Table(name, {})
        ((sql,),) = self.run("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = %s", [name])
        for column, kind, is_key in self.run(COLUMNS, [name]):
            kind = "jsonb" if f'JSON_VALID("{column}")' in sql else kind
            table.columns[column] = kind_of(f"{name}.{column}", kind)
            table.counter = column if is_key and "AUTOINCREMENT" in sql else table.counter
        return table

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

    def rows(self, table: Table) -> Iterator[TableRow]:
        convert = converter(table.kinds, FROM_SQLITE)
        cursor = self._session.execute(f'SELECT {_columns(table)} FROM "{table.name}" ORDER BY rowid')  # noqa: S608
        while rows := cursor.fetchmany(READ_ROWS):
            yield from map(convert, rows)

    def insert(self, table: Table, rows: Iterable[TableRow]) -> None:
        marks = ", ".join("?" * len(table.columns))
        statement = f'INSERT INTO "{table.name}" ({_columns(table)}) VALUES ({marks})'  # noqa: S608
        self._session.executemany(statement, rows)

    def _last_number(self, table: Table) -> int:
        found = self.run("SELECT seq FROM sqlite_sequence WHERE name = %s", [table.name])
        return int(found[0][0]) if found else 0

    def continue_after(self, table: Table, number: int) -> None:
        self.run("DELETE FROM sqlite_sequence WHERE name = %s", [table.name])
        self.run("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table.name, number])

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def _columns(table: Table) -> str:
    return ", ".join(f'"{name}"' for name in table.columns)


def is_used(database: Path) -> bool:
    """Return True if another process has the database open."""
    if not database.exists():
        return False
    try:
        with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as session:
            session.execute("PRAGMA locking_mode=EXCLUSIVE")
            session.execute("BEGIN EXCLUSIVE")
            session.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
    except sqlite3.DatabaseError:
        return False  # damaged, which is a reason to restore
    return False


def replace(database: Path, new: Path, aside: Path) -> None:
    """Replace the database by `new`, and keep the old one, with its side files, as `aside`.

    The write-ahead log is first checkpointed into the old file, or else moved with it, because it must never
    be applied to the new one.
    """
    if database.exists():
        with (
            suppress(sqlite3.DatabaseError),  # damaged: its side files move with it below
            closing(sqlite3.connect(database, timeout=20)) as session,
        ):
            session.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        add_name(database, aside)
        for suffix in SIDE_FILES:
            side = Path(f"{database}{suffix}")
            if side.exists():
                side.replace(f"{aside}{suffix}")
    os.replace(new, database)
    handle = os.open(database.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def discard(database: Path) -> None:
    for suffix in ("", *SIDE_FILES):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
