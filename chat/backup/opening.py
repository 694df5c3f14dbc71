"""Opening of databases: the source of a move by its address, any other from the settings."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.db import connections

from chat.db import databases
from chat.telemetry.redaction import conceal

from .database import Database
from .postgres import PostgresDatabase
from .sqlite import SqliteDatabase
from .tables import BackupError

ALIAS = "move_source"
NO_ADDRESS = (
    "--from is not an address of a database: write sqlite:////folder/db.sqlite3 or "
    "postgresql://user@host:5432/name."
)


def open_source(url: str) -> Database:
    """Open the database at this address. Raises BackupError: for a wrong address, or one where no file is."""
    try:
        password = urlsplit(url).password or ""
        conceal(password, unquote(password))
        settings = databases.from_url(url)
    except ValueError:
        raise BackupError(NO_ADDRESS) from None
    if settings["ENGINE"] == databases.SQLITE_BACKEND:
        path = Path(settings["NAME"])
        if not path.is_file():
            raise BackupError(f"There is no database {path}.")
        return SqliteDatabase(path, is_source=True)
    if settings["ENGINE"] != databases.POSTGRESQL:
        raise BackupError(NO_ADDRESS)
    both = {"default": connections.settings["default"], ALIAS: settings}
    connections.settings[ALIAS] = connections.configure_settings(both)[ALIAS]
    return PostgresDatabase(connections[ALIAS])


def open_own(connection: Any) -> Database:
    """Open the database of Django's connection. Raises BackupError: when it is a file that is not there."""
    if connection.vendor == "sqlite":
        path = Path(connection.settings_dict["NAME"])
        if not path.is_file():
            raise BackupError(f"There is no database {path}. Run `manage.py migrate` first.")
        return SqliteDatabase(path)
    return PostgresDatabase(connection)
