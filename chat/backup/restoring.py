"""Replacement of the database by the content of an archive: the former one is kept, or nothing changes.

Ways into the site that were closed after the backup was made are not opened again, or named.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from . import content, former
from .archive import Archive, BackupProgress, FormerManifest
from .database import Database
from .postgres import PostgresDatabase
from .sqlite import SqliteDatabase, discard, replace

COMPARED_NOT = "Passwords and API keys were not compared: the former database is damaged."

Run = Callable[[str], Iterable[tuple[Any, ...]]]
"""Runs a statement on the restored tables, and returns its rows."""

# Tables, and the condition of the rows that let somebody in without a password.
OPEN_ACCESS = {
    "django_session": ("sessions", "TRUE"),
    "chat_invite": ("open invitations", "used IS NULL"),
    "chat_sharedlink": ("shared links", "TRUE"),
}
# What opens again, compared with the tables before the restore: a sentence, and those whom it names.
OPENED = {
    "These people have an older password again, or are no longer disabled": """
        SELECT new.username FROM chat_user new JOIN {former}.chat_user old ON old.id = new.id
        WHERE new.password <> old.password OR new.is_active AND NOT old.is_active ORDER BY new.username""",
    "These people, who were deleted, are here again": """
        SELECT new.username FROM chat_user new WHERE NOT EXISTS (
            SELECT 1 FROM {former}.chat_user old WHERE old.id = new.id) ORDER BY new.username""",
    "These people have rights again that were taken from them": """
        SELECT new.username FROM chat_user new JOIN {former}.chat_user old ON old.id = new.id
        WHERE new.is_staff AND NOT old.is_staff OR new.is_superuser AND NOT old.is_superuser
        OR EXISTS (SELECT 1 FROM chat_user_groups held WHERE held.user_id = new.id AND NOT EXISTS (
            SELECT 1 FROM {former}.chat_user_groups kept
            WHERE kept.user_id = held.user_id AND kept.group_id = held.group_id))
        OR EXISTS (SELECT 1 FROM chat_user_user_permissions held WHERE held.user_id = new.id AND NOT EXISTS (
            SELECT 1 FROM {former}.chat_user_user_permissions kept
            WHERE kept.user_id = held.user_id AND kept.permission_id = held.permission_id))
        OR EXISTS (SELECT 1 FROM chat_user_groups held JOIN auth_group_permissions gives
            ON gives.group_id = held.group_id WHERE held.user_id = new.id AND NOT EXISTS (
            SELECT 1 FROM {former}.auth_group_permissions gave
            WHERE gave.group_id = gives.group_id AND gave.permission_id = gives.permission_id))
        ORDER BY new.username""",
    "These API keys, which were revoked, deleted or limited, are valid again as they were": """
        SELECT new.prefix || '… of ' || who.username FROM chat_apikey new
        JOIN chat_user who ON who.id = new.user_id LEFT JOIN {former}.chat_apikey old ON old.id = new.id
        WHERE new.revoked IS NULL AND (old.id IS NULL OR old.revoked IS NOT NULL
            OR new.may_set_gateway AND NOT old.may_set_gateway) ORDER BY who.username, new.prefix""",
}


def has_data() -> bool:
    """Return True if there is a user, so that a restore would replace data, or if the file is unreadable."""
    if connection.vendor == "sqlite" and not (own_file().is_file() and own_file().stat().st_size):
        return False
    try:
        with closing(own()) as database:
            return database.has_people()
    except sqlite3.DatabaseError:
        return True


def restore(archive: Archive, folder: Path, suffix: str, progress: BackupProgress) -> tuple[str, list[str]]:
    """Replace the database. Return where the former one is kept, "" if there was none, and sentences.

    `suffix` names what is kept. A new folder is used for what is extracted. Raises BackupError.
    """
    if connection.vendor == "sqlite":
        return _into_new_file(archive, folder, suffix, progress)
    return _into_tables(archive, suffix.removeprefix(".").replace("-", "_"), progress)


def _into_tables(archive: Archive, schema: str, progress: BackupProgress) -> tuple[str, list[str]]:
    """Restore in one transaction. The former tables and functions move into the new schema."""
    database = PostgresDatabase(connection)
    with transaction.atomic():
        database.run("SET LOCAL lock_timeout = '10s'")
        # A table cannot be altered while one of its rows waits for a deferred constraint check.
        database.run("SET CONSTRAINTS ALL IMMEDIATE")
        had_data = database.has_people()
        existed = database.put_aside(schema)
        content.make_tables(connection, archive.manifest.migrations)
        database.run("SET CONSTRAINTS ALL DEFERRED")
        _fill(archive, database, Path(), progress)
        database.run("SET CONSTRAINTS ALL IMMEDIATE")
        sentences = close_access(database.run, database.table_names())
        sentences += opened_again(database.run, f'"{schema}"') if had_data else []
    return f"the schema {schema}" if existed else "", sentences


def _into_new_file(
    archive: Archive, folder: Path, suffix: str, progress: BackupProgress
) -> tuple[str, list[str]]:
    path, new = own_file(), Path(f"{own_file()}.restoring")
    had_data, existed = has_data(), path.exists()
    discard(new)
    try:
        os.close(os.open(new, os.O_CREAT | os.O_EXCL, 0o600))
        with _connected_to(new):
            content.make_tables(connection, archive.manifest.migrations)
        with closing(SqliteDatabase(new)) as database:
            database.run("PRAGMA journal_mode=DELETE")  # no side files: it is one file that takes the place
            _fill(archive, database, folder / "former.sqlite3", progress)
            sentences = close_access(database.run, database.table_names())
            sentences += _older(database, path) if had_data else []
        replace(path, new, Path(f"{path}{suffix}"))
    finally:
        discard(new)
    return f"{path}{suffix}" if existed else "", sentences


def _older(database: SqliteDatabase, former: Path) -> list[str]:
    try:
        database.run("ATTACH %s AS former", [former.absolute().as_uri() + "?mode=ro"])
        return opened_again(database.run, "former")
    except sqlite3.DatabaseError:
        return [COMPARED_NOT]


def _fill(archive: Archive, database: Database, file: Path, progress: BackupProgress) -> None:
    manifest = archive.manifest
    if not isinstance(manifest, FormerManifest):
        content.restore(archive, database, progress)
    elif manifest.engine == "sqlite":
        with closing(former.file_of(archive, manifest, file)) as source:
            content.restore(source, database, progress)
    else:
        content.restore(former.FormerCopy(archive, manifest, database.tables()), database, progress)


@contextmanager
def _connected_to(file: Path) -> Iterator[None]:
    """Let Django's own connection, which migrations use, lead to another file."""
    settings, name = connection.settings_dict, connection.settings_dict["NAME"]
    connection.close()
    settings["NAME"] = str(file)
    try:
        yield
    finally:
        connection.close()
        settings["NAME"] = name


def own() -> Database:
    """Return the database that a restore replaces, whose file may be missing or damaged."""
    return SqliteDatabase(own_file()) if connection.vendor == "sqlite" else PostgresDatabase(connection)


def own_file() -> Path:
    return Path(connection.settings_dict["NAME"])


def close_access(run: Run, tables: Iterable[str]) -> list[str]:
    """Delete the sessions and the open links from the restored `tables`. Return sentences that say so."""
    removed = []
    for table in OPEN_ACCESS.keys() & set(tables):
        what, condition = OPEN_ACCESS[table]
        (count,) = next(iter(run(f"SELECT COUNT(*) FROM {table} WHERE {condition}")))  # noqa: S608
        run(f"DELETE FROM {table} WHERE {condition}")  # noqa: S608
        removed += [f"{count} {what}"] if count else []
    if not removed:
        return []
    return [f"Removed, because they may have been ended since the backup: {', '.join(sorted(removed))}."]


def opened_again(run: Run, former: str) -> list[str]:
    """Return sentences that name what opens accounts again, compared with the schema `former`."""
    found = {
        sentence: [name for (name,) in run(query.format(former=former))] for sentence, query in OPENED.items()
    }
    return [f"{sentence}: {', '.join(names)}." for sentence, names in found.items() if names]
