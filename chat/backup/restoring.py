"""Replacement of the database by the content of an archive: the former one is kept, or nothing changes."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import connection, transaction

from . import access, content, former
from .archive import Archive, BackupProgress, FormerManifest
from .database import Database
from .postgres import PostgresDatabase
from .sqlite import SqliteDatabase, discard, replace

COMPARED_NOT = "Passwords and API keys were not compared: the former database is damaged."


def has_data() -> bool:
    """Return True if there is a user, so that a restore would replace data, or if the file is unreadable."""
    if connection.vendor != "sqlite":
        return PostgresDatabase(connection).has_people()
    if not own_file().is_file() or not own_file().stat().st_size:
        return False
    try:
        with closing(SqliteDatabase(own_file())) as database:
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
        sentences = access.close(database.run, database.table_names())
        sentences += access.opened(database.run, f'"{schema}"') if had_data else []
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
            sentences = access.close(database.run, database.table_names())
            sentences += _older(database, path) if had_data else []
        replace(path, new, Path(f"{path}{suffix}"))
    finally:
        discard(new)
    return f"{path}{suffix}" if existed else "", sentences


def _older(database: SqliteDatabase, former: Path) -> list[str]:
    try:
        database.run("ATTACH %s AS former", [former.absolute().as_uri() + "?mode=ro"])
        return access.opened(database.run, "former")
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


def own_file() -> Path:
    return Path(connection.settings_dict["NAME"])
