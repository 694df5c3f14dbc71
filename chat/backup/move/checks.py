"""Checks before a move begins or goes on: the state that both databases need, each refusal in words."""

from collections.abc import Iterable
from pathlib import Path

from chat.backup import servers
from chat.db import migration_status

from .database import Database
from .errors import MoveError
from .state import MOVE, STATE_TABLES
from .tables import FILLED_WITHOUT_PEOPLE, MIGRATIONS_TABLE, REBUILT, Table

SAME = "--from is the database that DATABASE_URL names. Set DATABASE_URL to the new database first."
HALF_MOVED = "{} is itself the target of a move that has not ended. Move from its source."
OTHER_TABLES = (
    "{} has tables or columns that this version of the chat does not know, and their data would be left "
    "behind: {}. Remove them, or move them to another database."
)


def require_no_server(source: Database, target: Database, folder: Path) -> None:
    """Raise MoveError if a server uses this DATA_DIR or one of the databases."""
    if reason := servers.check_process_locks(folder) or source.in_use() or target.in_use():
        raise MoveError(reason)


def require_movable(source: Database, target: Database, tables: list[Table]) -> None:
    """Raise MoveError if the databases are one, differ in their tables, or the source cannot be copied."""
    if source.identity == target.identity:
        raise MoveError(SAME)
    present = source.columns()
    if MOVE in present:
        raise MoveError(HALF_MOVED.format(source.name))
    _require_migrations(source, present)
    _require_migrations(target, target.columns())
    if unknown := sorted(_unknown(present, tables)):
        raise MoveError(OTHER_TABLES.format(source.name, ", ".join(unknown)))
    if found := source.dangling():
        raise MoveError(f"{source.name} is damaged: {found}. A backup from before may be whole.")


def _require_migrations(database: Database, present: Iterable[str]) -> None:
    applied = set()
    if MIGRATIONS_TABLE in present:
        applied = set(database.run(f"SELECT app, name FROM {MIGRATIONS_TABLE}"))  # noqa: S608
    if missing := sorted(migration_status.known_names() - applied):
        app, name = missing[0]
        raise MoveError(
            f"{database.name} lacks {len(missing)} migrations, such as {app}.{name}. Run `manage.py migrate` "
            "with its address in DATABASE_URL first."
        )
    if newer := migration_status.unknown(applied):
        app, name = newer[0]
        raise MoveError(
            f"{database.name} is of another version of the chat, which has the migration {app}.{name}."
        )


def _unknown(present: dict[str, set[str]], tables: list[Table]) -> Iterable[str]:
    """Yield what is in the source and would not be copied."""
    known = {table.name: set(table.column_names) for table in tables}
    for name, columns in present.items():
        if name in known:
            yield from (f"{name}.{column}" for column in columns - known[name])
        elif name not in (MIGRATIONS_TABLE, *REBUILT):
            yield name


def require_empty(target: Database, tables: list[Table]) -> None:
    """Raise MoveError if the target has more rows than migrations and a first start write."""
    names = [table.name for table in tables if table.name not in FILLED_WITHOUT_PEOPLE]
    for name in (*names, "chat_searchdocument"):
        if target.run(f'SELECT 1 FROM "{name}" LIMIT 1'):  # noqa: S608
            raise MoveError(
                f"{target.name} is not empty: it has rows in {name}. A move fills only a database without "
                "people. To compare it with the source, use --verify."
            )


def is_begun(target: Database) -> bool:
    return set(STATE_TABLES) <= set(target.columns())
