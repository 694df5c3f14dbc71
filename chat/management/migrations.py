"""Check that the database of this process has all migrations."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

MISSING = "The database lacks tables. Run `manage.py migrate` first."


def are_missing() -> bool:
    """Return True if a migration is not applied yet. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
