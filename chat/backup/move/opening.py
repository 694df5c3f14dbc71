"""Opening of the two databases of a move: the source by its address, the target from the settings."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.db import connections

from chat.db import databases
from chat.telemetry.redaction import conceal

from .database import Database
from .errors import MoveError
from .postgres import PostgresDatabase
from .sqlite import SqliteDatabase

ALIAS = "move_source"
NO_ADDRESS = (
    "--from is not an address of a database: write sqlite:////folder/db.sqlite3 or "
    "postgresql://user@host:5432/name."
)


def open_source(url: str) -> Database:
    """Open the database at this address. Raises MoveError: for a wrong address, or one where no file is."""
    try:
        password = urlsplit(url).password or ""
        conceal(password, unquote(password))
        settings = databases.from_url(url)
    except ValueError:
        raise MoveError(NO_ADDRESS) from None
    if settings["ENGINE"] == databases.SQLITE_BACKEND:
        path = Path(settings["NAME"])
        if not path.is_file():
            raise MoveError(f"There is no database {path}.")
        return SqliteDatabase(path, is_source=True)
    if settings["ENGINE"] != databases.POSTGRESQL:
        raise MoveError(NO_ADDRESS)
    both = {"default": connections.settings["default"], ALIAS: settings}
    connections.settings[ALIAS] = connections.configure_settings(both)[ALIAS]
    return PostgresDatabase(connections[ALIAS])


def open_target(connection: Any) -> Database:
    """Open the database of Django's connection. Raises MoveError: when it is a file that is not there."""
    if connection.vendor == "sqlite":
        path = Path(connection.settings_dict["NAME"])
        if not path.is_file():
            raise MoveError(f"There is no database {path}. Run `manage.py migrate` first.")
        return SqliteDatabase(path, is_source=False)
    return PostgresDatabase(connection)
