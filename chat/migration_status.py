"""Compare the migrations of this version with those that its database has."""

from importlib.util import find_spec
from pkgutil import iter_modules
from typing import NamedTuple

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

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
    known, applied = known_names(), set(MigrationRecorder(connection).applied_migrations())
    unknown = [name for app, name in applied - known if app == "chat"]
    return MigrationStatus(not known <= applied, max(unknown, default=""))


def known_names() -> set[tuple[str, str]]:
    """Return (app label, name) of each migration of this version.

    Django's `MigrationLoader` finds the same names, but imports each migration. In a server these modules
    would stay, 2 MB of its idle memory.
    """
    return {
        (config.label, module.name)
        for config in apps.get_app_configs()
        if (package := find_spec(f"{config.name}.migrations"))
        for module in iter_modules(package.submodule_search_locations)
        if not module.ispkg and module.name[0] not in "_~"
    }


def are_missing() -> bool:
    """Return True if a migration is not applied yet. Raises DatabaseError."""
    return compare().missing
