"""The version before this one goes on working on the migrated database, until its processes are replaced."""

from collections.abc import Iterator

import pytest
from django.db import migrations, models
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from chat.db.index_operations import AddIndexConcurrently
from tests.upgrade.next_release.migrations import tomorrow, tomorrow_indexes
from tests.upgrade.old_models import create
from tests.upgrade.schema_changes import LABEL, problems, tables

# The latest migration of the oldest version that may still run while this one migrates.
OLDEST = "0002_sql"


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def chain(loader: MigrationLoader) -> Iterator[tuple[Migration, ProjectState]]:
    """The last migrations, in the order in which they are applied, each with the schema before it."""
    (leaf,) = loader.graph.leaf_nodes(LABEL)
    state = ProjectState(real_apps=loader.unmigrated_apps)
    for app, name in loader.graph.forwards_plan(leaf):
        migration = loader.graph.nodes[app, name]
        if app == LABEL and name > OLDEST:
            yield migration, state
        state = migration.mutate_state(state, preserve=True)


@pytest.fixture(scope="module")
def found(loader: MigrationLoader) -> dict[str, list[str]]:
    """The problems of each of these migrations that has some."""
    every = {migration.name: problems(migration, state) for migration, state in chain(loader)}
    return {name: listed for name, listed in every.items() if listed}


def test_later_migrations_leave_the_older_version_working(found: dict[str, list[str]]) -> None:
    assert found == {}


ADDITIVE = [
    migrations.AddField("run", "place", models.TextField(null=True)),
    migrations.AddField("run", "place", models.TextField(db_default="")),
    migrations.AlterField("run", "model", models.CharField(max_length=201)),
    migrations.AlterField("run", "model", models.TextField()),
    migrations.CreateModel(
        "Star", [("id", models.BigAutoField(primary_key=True)), ("word", models.TextField())]
    ),
    AddIndexConcurrently("run", models.Index(fields=["model"], name="some")),
]
BREAKING = {
    "chat_run.model is gone": migrations.RemoveField("run", "model"),
    "chat_runchunk is gone": migrations.DeleteModel("RunChunk"),
    "chat_run.served_by is gone": migrations.RenameField("run", "served_by", "answered_by"),
    "chat_run.place is new and NOT NULL, without a db_default": migrations.AddField(
        "run", "place", models.TextField(default="")
    ),
    "chat_run.first_text_at is NOT NULL": migrations.AlterField(
        "run", "first_text_at", models.DateTimeField()
    ),
    "chat_run.model is unique": migrations.AlterField(
        "run", "model", models.CharField(max_length=200, unique=True)
    ),
    "chat_run.model has another type": migrations.AlterField("run", "model", models.CharField(max_length=9)),
    "chat_run has the new constraint few": migrations.AddConstraint(
        "run", models.UniqueConstraint(fields=["model"], name="few")
    ),
    "some locks its table: use chat.db.index_operations.AddIndexConcurrently": migrations.AddIndex(
        "run", models.Index(fields=["model"], name="some")
    ),
}


def of(*operations: Operation) -> Migration:
    """A migration, without a transaction if it builds an index."""
    atomic = not any(isinstance(operation, AddIndexConcurrently) for operation in operations)
    return type("Migration", (Migration,), {"operations": operations, "atomic": atomic})("later", LABEL)


@pytest.mark.parametrize("operation", ADDITIVE, ids=lambda operation: operation.describe())
def test_an_addition_is_allowed(loader: MigrationLoader, operation: Operation) -> None:
    assert problems(of(operation), loader.project_state()) == []


@pytest.mark.parametrize("problem", BREAKING)
def test_each_break_is_named(loader: MigrationLoader, problem: str) -> None:
    assert problems(of(BREAKING[problem]), loader.project_state()) == [problem]


def test_an_index_needs_a_non_atomic_migration_of_its_own(loader: MigrationLoader) -> None:
    index = AddIndexConcurrently("run", models.Index(fields=["model"], name="some"))
    later = of(ADDITIVE[1], index)
    (problem,) = problems(later, loader.project_state())
    assert problem == ("“Add field place to run” has no transaction: move the indexes to their own migration")
    later.atomic = True
    (problem,) = problems(later, loader.project_state())
    assert problem == "some is built in a transaction: write `atomic = False`"


def test_the_release_of_the_load_test_is_additive(loader: MigrationLoader) -> None:
    state = loader.project_state()
    for module in (tomorrow, tomorrow_indexes):
        migration = module.Migration(module.__name__, LABEL)
        assert problems(migration, state) == []
        state = migration.mutate_state(state)


@pytest.mark.database
def test_models_of_the_older_version_write_and_read(db: None, loader: MigrationLoader) -> None:
    """With what its INSERTs name and what they leave out, on the schema of today."""
    old = tables(loader.project_state([(LABEL, OLDEST)]))
    assert len(old) > 25
    made: dict[type[models.Model], models.Model] = {}
    for model in old.values():
        row = made.get(model) or model._default_manager.first() or create(model, made)
        assert model._default_manager.get(pk=row.pk) == row
