"""The operation with which a migration adds an index to a table that may be large and in use."""

from typing import Any

from django.db.migrations import AddIndex


class AddIndexConcurrently(AddIndex):
    """Add an index while other processes write. The migration needs `atomic = False`, and holds nothing else:
    for most other changes SQLite copies the table, and without a transaction rows written meanwhile are lost.

    PostgreSQL builds it without a lock on writes. SQLite has a single writer, and the others wait for it:
    seconds for millions of rows. A migration that was broken off can run again: what it left is dropped.

    In a transaction around all migrations, such as that of a restore, nobody else sees the tables yet: there
    the index is built like any other.
    """

    atomic = False

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Raises NotSupportedError: on PostgreSQL, in a migration with a transaction of its own."""
        name = schema_editor.quote_name(self.index.name)
        if _builds_concurrently(schema_editor):
            operation = self._of_postgres()
            operation._ensure_not_in_transaction(schema_editor)
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            operation.database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            schema_editor.execute(f"DROP INDEX IF EXISTS {name}")
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Raises NotSupportedError: on PostgreSQL, in a migration with a transaction of its own."""
        if _builds_concurrently(schema_editor):
            self._of_postgres().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            super().database_backwards(app_label, schema_editor, from_state, to_state)

    def _of_postgres(self) -> Any:
        """Return Django's operation. Its module loads psycopg, 9 MB that a server on SQLite does not need."""
        from django.contrib.postgres import operations

        return operations.AddIndexConcurrently(self.model_name, self.index)


def _builds_concurrently(schema_editor: Any) -> bool:
    """Return False on SQLite, and if only the caller of the migration has begun a transaction."""
    connection = schema_editor.connection
    is_inside = connection.in_atomic_block and not schema_editor.atomic_migration
    return bool(connection.vendor == "postgresql" and not is_inside)
