"""Empty the database after a test that commits: only the tables that have rows.

Django's own flush truncates every table and then creates all permissions again. For races between turns,
on a busy machine, that was 1.4 s a test, not 0.5, on PostgreSQL, where each truncated table is a new file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.test import TransactionTestCase

KEPT = ("django_content_type", "auth_permission")  # `migrate` fills them, and hardly a test changes them
CLEAR_WORDS = {  # the words of the search index, whose table is no model's
    "sqlite": "INSERT INTO chat_search_words (chat_search_words) VALUES ('delete-all')",
    "postgresql": "DELETE FROM chat_search_words",
}


@contextmanager
def quick_flush() -> Iterator[None]:
    """Replace Django's flush after the tests of this process. The database is as `migrate` left it."""
    flush = TransactionTestCase._fixture_teardown
    kept = _rows_kept()

    def teardown(case: TransactionTestCase) -> None:
        nonlocal kept
        if _rows_kept() == kept:
            empty_tables()
        else:
            flush(case)
            kept = _rows_kept()

    TransactionTestCase._fixture_teardown = teardown
    try:
        yield
    finally:
        TransactionTestCase._fixture_teardown = flush


def empty_tables() -> None:
    """Delete all rows but those of `KEPT`, and the search index."""
    tables = [name for name in connection.introspection.django_table_names() if name not in KEPT]
    has_rows = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in tables)
    # Without foreign keys, SQLite frees the pages of a table; with them, it deletes row by row.
    with connection.constraint_checks_disabled(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(has_rows))
        filled = [name for (name,) in cursor.fetchall()]
        for name in filled:  # in any order: PostgreSQL checks foreign keys at the commit
            cursor.execute(f"DELETE FROM {name}")
        if filled:
            cursor.execute(CLEAR_WORDS[connection.vendor])


def _rows_kept() -> list[list[tuple[Any, ...]]]:
    with connection.cursor() as cursor:
        return [_rows(cursor, table) for table in KEPT]


def _rows(cursor: Any, table: str) -> list[tuple[Any, ...]]:
    cursor.execute(f"SELECT * FROM {table} ORDER BY id")
    return list(cursor.fetchall())
