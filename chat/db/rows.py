"""Statements of the site's own, beside the ORM."""

from collections.abc import Sequence
from typing import Any

from django.db import connection


def column_of(statement: str, values: Sequence[Any] = ()) -> list[Any]:
    """Run a statement and return the only column of its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [value for (value,) in cursor.fetchall()]
