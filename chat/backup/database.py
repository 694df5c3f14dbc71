"""A database as a backup, a restore and a move use it, whatever its kind."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .integrity import MOVE
from .tables import Table, TableRow

MIGRATIONS_TABLE = "django_migrations"
# The index of the search has another form on each database, and is built anew.
NOT_COPIED = (MIGRATIONS_TABLE, MOVE, "chat_searchdocument", "chat_searchbuild", "chat_search_words")


class Database:
    """A database, by statements with the placeholder `%s`. Values have the form that `tables.py` tells."""

    name: str
    """The address for people and for the record of a move, without a password."""

    @property
    def identity(self) -> tuple[Any, ...]:
        """A value that no other database has."""
        raise NotImplementedError

    def in_use(self) -> str:
        """Return an error message if a server uses the database, else ""."""
        raise NotImplementedError

    def damage(self) -> str:
        """Return a description of the damage; "" if there is none, or the database looks after itself."""
        return ""

    def dangling(self) -> str:
        """Return a description of rows that refer to missing rows; "" if there are none, or cannot be."""
        return ""

    def size(self) -> int:
        """Return the number of bytes on disk."""
        raise NotImplementedError

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def table_names(self) -> list[str]:
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """Return the tables by name, without those that are not copied.

        Raises BackupError: for a column of an unknown type.
        """
        tables = [self._table(name) for name in self.table_names() if name not in NOT_COPIED]
        for table in tables:
            table.rows = self.count(table)
            if table.counter:
                table.last = self._last_number(table)
        return tables

    def count(self, table: Table) -> int:
        return int(self.run(f'SELECT COUNT(*) FROM "{table.name}"')[0][0])  # noqa: S608

    def has_people(self) -> bool:
        return "chat_user" in self.table_names() and bool(self.run("SELECT 1 FROM chat_user LIMIT 1"))

    def migrations(self) -> list[tuple[str, str]]:
        """Return the applied migrations as (app, name), in order."""
        if MIGRATIONS_TABLE not in self.table_names():
            return []
        rows = self.run(f"SELECT app, name FROM {MIGRATIONS_TABLE} ORDER BY id")  # noqa: S608
        return [(app, name) for app, name in rows]

    def snapshot(self) -> AbstractContextManager[Any]:
        """Read the state of one moment within this context, and write nothing."""
        raise NotImplementedError

    def transaction(self) -> AbstractContextManager[Any]:
        raise NotImplementedError

    def rows(self, table: Table) -> Iterator[TableRow]:
        """Yield the rows in the order in which they are stored, which keeps a conversation together."""
        raise NotImplementedError

    def insert(self, table: Table, rows: Iterable[TableRow]) -> None:
        raise NotImplementedError

    def release_references(self) -> list[str]:
        """Stop checking references between rows. Return the statements that check them again."""
        return []

    def continue_after(self, table: Table, number: int) -> None:
        """Let the table's counter give higher numbers than this one."""
        raise NotImplementedError

    def analyze(self) -> None:
        """Let the database count its rows, if it needs that to plan queries."""

    def close(self) -> None:
        raise NotImplementedError

    def _table(self, name: str) -> Table:
        raise NotImplementedError

    def _last_number(self, table: Table) -> int:
        """Return the highest number that the counter has given; 0: none."""
        raise NotImplementedError
