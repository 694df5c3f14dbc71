"""The record of a move, in the database that is being filled: it is there until the move has ended.

While it is there, no server starts, because the database is not whole and its references are not checked.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .database import Database
from .errors import MoveError

MOVE, PROGRESS = "chat_move", "chat_move_table"
STATE_TABLES = (MOVE, PROGRESS)
CREATE = (
    f"CREATE TABLE {MOVE} (source text NOT NULL, statements text NOT NULL)",
    f"CREATE TABLE {PROGRESS} (name varchar(200) PRIMARY KEY, place text NOT NULL, copied bigint NOT NULL)",
)
UNFINISHED = (
    "The database is the target of a move that has not ended. Run the same `manage.py move` again to go on, "
    "or use another database."
)


@dataclass
class MoveState:
    """`source` is its name, `statements` those that end the move.

    By table, `places` are those of the last copied row in the source, `copied` the numbers of copied rows.
    """

    source: str
    statements: list[str]
    places: dict[str, str] = field(default_factory=dict)
    copied: dict[str, int] = field(default_factory=dict)


def is_unfinished(connection: Any) -> bool:
    """Return True if a move into this database has not ended. Raises DatabaseError."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return False  # to ask would create the file
    with connection.cursor() as cursor:
        return MOVE in connection.introspection.table_names(cursor)


def create(target: Database, source: str, statements: list[str]) -> None:
    for statement in CREATE:
        target.run(statement)
    target.run(f"INSERT INTO {MOVE} VALUES (%s, %s)", [source, json.dumps(statements)])  # noqa: S608


def load(target: Database, source: str) -> MoveState:
    """Return the record. Raises MoveError: when the move is from another source."""
    ((begun_from, statements),) = target.run(f"SELECT source, statements FROM {MOVE}")  # noqa: S608
    if begun_from != source:
        raise MoveError(
            f"The database holds a part of a move from {begun_from}. Go on from there, or use another one."
        )
    state = MoveState(begun_from, json.loads(statements))
    for name, place, copied in target.run(f"SELECT name, place, copied FROM {PROGRESS}"):  # noqa: S608
        state.places[name], state.copied[name] = place, copied
    return state


def advance(target: Database, name: str, place: str, rows: int) -> None:
    """Record that `rows` more rows of the table `name` are copied, the last one from this place."""
    target.run(
        f"INSERT INTO {PROGRESS} (name, place, copied) VALUES (%s, %s, %s) ON CONFLICT (name) "  # noqa: S608
        f"DO UPDATE SET place = excluded.place, copied = {PROGRESS}.copied + excluded.copied",
        [name, place, rows],
    )


def remove(target: Database) -> None:
    for table in STATE_TABLES:
        target.run(f"DROP TABLE {table}")
