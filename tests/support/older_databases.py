"""Databases as older migrations left them, for tests of those that follow.

Each is migrated forwards, from an empty one: Django takes four times as long backwards from the present one.
"""

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.support.databases import Database, on_postgres

Older = Callable[[str], Any]  # the fixture `older`


class OlderDatabases:
    """Keeps one database for each migration that was asked for; the next is migrated on from a copy of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, Database] = {}  # by the name of chat's last migration

    def at(self, target: str) -> Database:
        """Return a new database in which `target` is the last migration of chat."""
        if target not in self._kept:
            self._kept[target] = self._migrated(target)
        return self._copy(self._kept[target])

    def drop(self) -> None:
        for database in self._kept.values():
            database.drop()

    def _migrated(self, target: str) -> Database:
        earlier = [name for name in self._kept if name < target]
        database = self._copy(self._kept[max(earlier)]) if earlier else self._new()
        with connected(database):
            if not earlier:
                migrate_other_apps()
            migrate_to(target)
        return database

    def _copy(self, source: Database) -> Database:
        if connection.vendor == "postgresql":
            return self._new(template=source.url.rsplit("/", 1)[1])
        copied = self._new()
        shutil.copy(source.url.removeprefix("sqlite:///"), copied.url.removeprefix("sqlite:///"))
        return copied

    def _new(self, template: str = "") -> Database:
        name = f"older_{uuid.uuid4().hex}"
        if connection.vendor == "postgresql":
            return on_postgres(name, template or "template0")
        return Database(f"sqlite:///{self._folder}/{name}.sqlite3")


@contextmanager
def connected(database: Database) -> Iterator[None]:
    """Have the connections of this process use `database`."""
    wanted = connection.settings_dict
    usual = wanted["NAME"]
    is_file = connection.vendor == "sqlite"
    _use(database.url.removeprefix("sqlite:///") if is_file else database.url.rsplit("/", 1)[1])
    try:
        yield
    finally:
        _use(usual)


def _use(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name
    # Content types have other keys in each database. Their model is not imported above, because tools import
    # this module before Django is set up.
    apps.get_model("contenttypes", "ContentType").objects.clear_cache()


def migrate_to(target: str) -> None:
    """Migrate chat. The command also renames content types, as an upgrade does."""
    call_command("migrate", "chat", target, verbosity=0)


def migrate_to_latest() -> None:
    call_command("migrate", "chat", verbosity=0)


def migrate_other_apps() -> None:
    """Make the tables of the apps that are not ours."""
    executor = MigrationExecutor(connection)
    executor.migrate([leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] != "chat"])


def apps_at(target: str) -> Any:
    """Return the apps as `target` leaves them."""
    return MigrationExecutor(connection).loader.project_state([("chat", target)]).apps


@pytest.fixture(scope="module")
def older_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OlderDatabases]:
    made = OlderDatabases(tmp_path_factory.mktemp("older"))
    yield made
    made.drop()


@pytest.fixture
def older(transactional_db: None, older_databases: OlderDatabases) -> Iterator[Older]:
    """Use a database as this migration left it until the test ends. Return the apps as they were then."""
    with ExitStack() as stack:

        def use(target: str) -> Any:
            database = older_databases.at(target)
            stack.callback(database.drop)
            stack.enter_context(connected(database))
            return apps_at(target)

        yield use
