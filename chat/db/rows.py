"""Statements of the site's own, beside the ORM."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection


def rows_of(statement: str, values: Sequence[Any] = ()) -> list[Any]:
    """Run a statement and return its rows, as the driver gives them."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def column_of(statement: str, values: Sequence[Any] = ()) -> list[Any]:
    """Run a statement and return the only column of its rows."""
    return [value for (value,) in rows_of(statement, values)]


def time_of(value: datetime) -> datetime:
    """Return a time of a row as Django gives it: SQLite's are in UTC and do not say so."""
    return value if value.tzinfo else value.replace(tzinfo=UTC)
