"""Copying of the rows: each batch and its place in one transaction, so that an interrupted move goes on."""

import sqlite3
from collections.abc import Callable, Iterator

import psycopg
from django.db import DatabaseError

from chat.telemetry.redaction import redact

from . import state
from .database import Database, TableRow
from .errors import MoveError
from .state import MoveState
from .tables import FILLED_WITHOUT_PEOPLE, Table

COPY_BATCH_ROWS = 5_000
COPY_BATCH_CHARS = 4_000_000  # of texts; a message may have 400,000
NOT_COPIED = "The table {} was not copied whole: {}\nRun the same command again to go on."

Progress = Callable[[int], None]
"""Called with the number of rows of each batch."""


def begin(source: Database, target: Database, tables: list[Table]) -> None:
    """Make the target ready and record the move, in one transaction."""
    with target.transaction():
        state.create(target, source.name, target.release_references())
        for table in tables:
            if table.name in FILLED_WITHOUT_PEOPLE:
                target.run(f'DELETE FROM "{table.name}"')  # noqa: S608


def copy(
    source: Database, target: Database, tables: list[Table], begun: MoveState, progress: Progress
) -> None:
    """Copy what is not copied yet. Raises MoveError: when a table cannot be copied."""
    with source.snapshot():
        for table in tables:
            try:
                _copy_table(source, target, table, begun.places.get(table.name, ""), progress)
            except (DatabaseError, psycopg.Error, sqlite3.Error) as error:
                raise MoveError(NOT_COPIED.format(table.name, redact(str(error).strip()))) from error


def _copy_table(source: Database, target: Database, table: Table, place: str, progress: Progress) -> None:
    batch = _Batch(source.rows(table, place))
    while not batch.is_last:
        with target.transaction():
            target.insert(table, batch)
            if batch.rows:
                state.advance(target, table.name, batch.place, batch.rows)
        progress(batch.rows)


class _Batch:
    """The rows of a table, a batch for each iteration. They go on one by one: none is held."""

    def __init__(self, rows: Iterator[tuple[str, TableRow]]) -> None:
        self._rows = rows
        self.is_last = False
        self.rows = 0
        self.place = ""

    def __iter__(self) -> Iterator[TableRow]:
        self.rows, chars = 0, 0
        for place, row in self._rows:
            self.place = place
            self.rows += 1
            chars += sum(len(value) for value in row if isinstance(value, (str, bytes)))
            yield row
            if self.rows >= COPY_BATCH_ROWS or chars >= COPY_BATCH_CHARS:
                return
        self.is_last = True


def finish(source: Database, target: Database, tables: list[Table], statements: list[str]) -> None:
    """Check the references again, let counters go on where the source's are, and forget the move.

    The index of the search is left to be built. It is all one transaction.
    """
    with target.transaction():
        for table in tables:
            if table.counter:
                target.continue_after(table, _highest(source, table))
        target.run("UPDATE chat_searchbuild SET finished = %s, created = NULL, conversation = NULL", [False])
        for statement in statements:
            target.run(statement)
        state.remove(target)
    target.analyze()


def _highest(source: Database, table: Table) -> int:
    """Return the highest number that the source has given, so that none of a deleted row is given again."""
    ((highest,),) = source.run(f'SELECT MAX("{table.counter}") FROM "{table.name}"')  # noqa: S608
    return max(highest or 0, source.last_number(table))
