"""Compare the migrations of this version with those that its database has."""

from typing import NamedTuple

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

MISSING_TABLES = "The database lacks tables. Run `manage.py migrate` first."
NEWER = (
    "The database is of a newer version, which has the migration %s. During an upgrade this version may run "
    "on it; to go back for good, restore the backup that was made before the upgrade."
)


class MigrationStatus(NamedTuple):
    """`missing`: a migration is not applied yet. `newer`: the last that this version does not know, or ""."""

    missing: bool
    newer: str


def compare() -> MigrationStatus:
    """Compare them. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    unknown = [name for app, name in loader.applied_migrations if app == "chat"]
    unknown = [name for name in unknown if ("chat", name) not in loader.disk_migrations]
    missing = bool(executor.migration_plan(loader.graph.leaf_nodes()))
    return MigrationStatus(missing, max(unknown, default=""))


def are_missing() -> bool:
    """Return True if a migration is not applied yet. Raises DatabaseError."""
    return compare().missing
