"""One side of a move: what a move asks of a database, however it is of which kind."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .tables import Table

TableRow = Sequence[Any]


class Database(Protocol):
    """A database, by statements with the placeholder `%s`. Values are in the form of `values.py`."""

    replaced: int
    """The number of values read so far that held what PostgreSQL cannot hold, and were changed."""

    @property
    def name(self) -> str:
        """The address for people and for the record of the move, without a password."""

    @property
    def identity(self) -> tuple[Any, ...]:
        """A value that no other database has."""

    def in_use(self) -> str:
        """Return an error message if a server uses the database, else ""."""

    def dangling(self) -> str:
        """Return a description of rows that refer to missing rows; "" if there are none, or cannot be."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of the statement."""

    def columns(self) -> dict[str, set[str]]:
        """Return the columns by table."""

    def snapshot(self) -> AbstractContextManager[Any]:
        """Read the state of one moment within this context, and write nothing."""

    def transaction(self) -> AbstractContextManager[Any]: ...

    def rows(self, table: Table, after: str = "") -> Iterator[tuple[str, TableRow]]:
        """Yield (place, row) of the rows behind the place `after`, in the order in which they are stored.

        That order keeps the messages of a conversation together, as their random keys would not.
        """

    def insert(self, table: Table, rows: Iterable[TableRow]) -> None: ...

    def release_references(self) -> list[str]:
        """Stop checking references between rows. Return the statements that check them again."""

    def last_number(self, table: Table) -> int:
        """Return the highest number that the counter has given, also to a row deleted since; 0: none."""

    def continue_after(self, table: Table, number: int) -> None:
        """Let the table's counter give higher numbers than this one."""

    def analyze(self) -> None:
        """Let the database count its rows, which it needs to plan queries."""

    def close(self) -> None: ...
