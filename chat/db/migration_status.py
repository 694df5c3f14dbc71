"""Compare the migrations of this version with those that its database, or a backup, has."""

from collections.abc import Iterable
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import NamedTuple

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from chat.migrations._replaced import REPLACED

Names = Iterable[tuple[str, str]]  # (app label, name)

MISSING_TABLES = "The database lacks tables. Run `manage.py migrate` first."
NEWER = (
    "The database is of a newer version, which has the migration %s. During an upgrade this version may run "
    "on it; to go back for good, restore the backup that was made before the upgrade."
)
TOO_OLD = (
    "is of a version before 0.1.0. Run `manage.py migrate` of the commit 5b079f9 on it first, then this one."
)
FORMER = {("chat", name) for name in REPLACED}
REPLACING = {("chat", "0001_schema"), ("chat", "0002_sql")}


class MigrationStatus(NamedTuple):
    """`missing`: a migration is not applied yet. `newer`: the last that this version does not know, or ""."""

    missing: bool
    newer: str


def compare() -> MigrationStatus:
    """Compare them. Raises DatabaseError."""
    applied = MigrationRecorder(connection).applied_migrations()
    newer = [name for app, name in unknown(applied) if app == "chat"]
    return MigrationStatus(bool(known_names() - set(applied)), max(newer, default=""))


def known_names() -> set[tuple[str, str]]:
    """Return (app label, name) of each migration of this version.

    Django's `MigrationLoader` finds the same names, but imports each migration. In a server these modules
    would stay, 1 MB of its idle memory.
    """
    return {
        (config.label, module.name)
        for config in apps.get_app_configs()
        if (package := find_spec(f"{config.name}.migrations"))
        for module in iter_modules(package.submodule_search_locations)
        if not module.ispkg and module.name[0] not in "_~"
    }


def unknown(applied: Names) -> list[tuple[str, str]]:
    """Return those that neither this version has nor its migrations replace."""
    return sorted(set(applied) - known_names() - FORMER)


def is_too_old(applied: Names) -> bool:
    """Return True if only a part of the migrations that ours replace is applied."""
    return 0 < len(FORMER & set(applied)) < len(FORMER)


def translated(applied: Names) -> set[tuple[str, str]]:
    """Return them with those that replace others, where all of those are applied."""
    return {*applied, *REPLACING} if set(applied) >= FORMER else set(applied)


def are_missing() -> bool:
    """Return True if a migration is not applied yet. Raises DatabaseError."""
    return compare().missing
