"""Checks before a move begins or goes on: the state that both databases need, each refusal in words."""

from pathlib import Path

from chat.db import migration_status

from . import servers
from .content import require_known
from .database import Database
from .move_state import MOVE
from .tables import BackupError, Table

# Filled by migrations or by the first start of a server. A site without people has rows in no other table.
FILLED_WITHOUT_PEOPLE = frozenset(
    {
        "auth_group",
        "auth_group_permissions",
        "auth_permission",
        "chat_catalogstate",
        "chat_maintenancetask",
        "chat_setuplink",
        "chat_sitemodel",
        "chat_worker",
        "django_content_type",
    }
)
SAME = "--from is the database that DATABASE_URL names. Set DATABASE_URL to the new database first."
HALF_MOVED = "{} is itself the target of a move that has not ended. Move from its source."


def require_no_server(source: Database, target: Database, folder: Path) -> None:
    """Raise BackupError if a server uses this DATA_DIR or one of the databases."""
    if reason := servers.check_process_locks(folder) or source.in_use() or target.in_use():
        raise BackupError(reason)


def require_movable(source: Database, target: Database, tables: list[Table]) -> None:
    """Raise BackupError if the databases are one, differ in their tables, or the source cannot be copied."""
    if source.identity == target.identity:
        raise BackupError(SAME)
    if MOVE in source.table_names():
        raise BackupError(HALF_MOVED.format(source.name))
    _require_migrations(source)
    _require_migrations(target)
    require_known(source, tables)
    if found := source.dangling():
        raise BackupError(f"{source.name} is damaged: {found}. A backup from before may be whole.")


def _require_migrations(database: Database) -> None:
    applied = set(database.migrations())
    if missing := sorted(migration_status.known_names() - applied):
        app, name = missing[0]
        raise BackupError(
            f"{database.name} lacks {len(missing)} migrations, such as {app}.{name}. Run `manage.py migrate` "
            "with its address in DATABASE_URL first."
        )
    if newer := migration_status.unknown(applied):
        app, name = newer[0]
        raise BackupError(
            f"{database.name} is of another version of the chat, which has the migration {app}.{name}."
        )


def require_empty(target: Database, tables: list[Table]) -> None:
    """Raise BackupError if the target has more rows than migrations and a first start write."""
    names = [table.name for table in tables if table.name not in FILLED_WITHOUT_PEOPLE]
    for name in (*names, "chat_searchdocument"):
        if target.run(f'SELECT 1 FROM "{name}" LIMIT 1'):  # noqa: S608
            raise BackupError(
                f"{target.name} is not empty: it has rows in {name}. A move fills only a database without "
                "people. To compare it with the source, use --verify."
            )
