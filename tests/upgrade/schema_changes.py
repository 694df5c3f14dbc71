"""Changes that a migration may not make while processes of the older version use the database."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import connection, models
from django.db.migrations import AddIndex, Migration, RemoveIndex
from django.db.migrations.state import ProjectState

from chat.db.index_operations import AddIndexConcurrently

LABEL = "chat"


def problems(migration: Migration, before: ProjectState) -> list[str]:
    """Return how this migration breaks or stops the older version. `before` is not changed.

    Code that it runs (RunPython, RunSQL) is not read: `old_models` finds what that does to INSERTs.
    """
    after = migration.mutate_state(before, preserve=True)
    return [*_incompatible(before, after), *_blocking(migration, before), *_losing(migration)]


def _incompatible(before: ProjectState, after: ProjectState) -> Iterator[str]:
    new = tables(after)
    for name, old in tables(before).items():
        if name not in new:
            yield f"{name} is gone"
            continue
        yield from _of_columns(name, _columns(old), _columns(new[name]))
        known = {constraint.name for constraint in old._meta.constraints}
        for constraint in new[name]._meta.constraints:
            if constraint.name not in known:
                yield f"{name} has the new constraint {constraint.name}"


def _of_columns(
    table: str, old: Mapping[str, models.Field], new: Mapping[str, models.Field]
) -> Iterator[str]:
    for name in old.keys() - new.keys():
        yield f"{table}.{name} is gone"
    for name in old.keys() & new.keys():
        was, now = old[name], new[name]
        if was.null and not now.null:
            yield f"{table}.{name} is NOT NULL"
        if now.unique and not was.unique:
            yield f"{table}.{name} is unique"
        if was.db_type(connection) != now.db_type(connection) and not _is_wider(was, now):
            yield f"{table}.{name} has another type"
    for name in new.keys() - old.keys():
        if not new[name].null and not new[name].has_db_default():
            yield f"{table}.{name} is new and NOT NULL, without a db_default"


def _is_wider(was: models.Field, now: models.Field) -> bool:
    if not isinstance(was, models.CharField) or not isinstance(now, models.CharField | models.TextField):
        return False
    return (now.max_length or 2**30) >= (was.max_length or 2**30)


def _blocking(migration: Migration, before: ProjectState) -> Iterator[str]:
    """Indexes of older tables for whose build PostgreSQL keeps writers waiting."""
    for operation in migration.operations:
        if not isinstance(operation, AddIndex) or (LABEL, operation.model_name_lower) not in before.models:
            continue
        if not isinstance(operation, AddIndexConcurrently):
            yield f"{operation.index.name} locks its table: use chat.db.index_operations.AddIndexConcurrently"
        elif migration.atomic:
            yield f"{operation.index.name} is built in a transaction: write `atomic = False`"


def _losing(migration: Migration) -> Iterator[str]:
    """Operations for which SQLite copies a table: what is written meanwhile is lost without a transaction."""
    for operation in migration.operations:
        if not migration.atomic and not isinstance(operation, AddIndex | RemoveIndex):
            yield f"“{operation.describe()}” has no transaction: move the indexes to their own migration"


def tables(state: ProjectState) -> dict[str, type[models.Model]]:
    """Return the models by table, those of many-to-many fields among them."""
    found = state.apps.get_app_config(LABEL).get_models(include_auto_created=True)
    return {model._meta.db_table: model for model in found}


def _columns(model: type[models.Model]) -> dict[str, Any]:
    return {field.column: field for field in model._meta.local_concrete_fields}
