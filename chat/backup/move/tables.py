"""The tables that a move copies: those of all installed models, with the kind of each column."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import Field, Model

from .errors import MoveError
from .values import KIND_OF_FIELD, ColumnKind

# Not copied. The index of the search has another form on each database, and is built anew.
REBUILT = ("chat_searchdocument", "chat_searchbuild", "chat_search_words")
MIGRATIONS_TABLE = "django_migrations"
# Filled by migrations or by the first start of a server. A site without people has rows in no other table.
FILLED_WITHOUT_PEOPLE = frozenset(
    {
        "auth_group",
        "auth_group_permissions",
        "auth_permission",
        "chat_catalogstate",
        "chat_maintenancetask",
        "chat_setuplink",
        "chat_sitemodel",
        "chat_worker",
        "django_content_type",
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: ColumnKind


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a model. `counter` is the column whose values the database counts up, if there is one."""

    name: str
    columns: tuple[Column, ...]
    counter: str

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]


def moved_tables() -> list[Table]:
    """Return the tables to copy, by name. Raises MoveError: for a column of an unknown kind."""
    models = apps.get_models(include_auto_created=True)
    found = {each.name: each for each in map(_table_of, filter(_has_table, models))}
    return [found[name] for name in sorted(found)]


def _has_table(model: type[Model]) -> bool:
    options = model._meta
    return options.managed and not options.proxy and options.db_table not in REBUILT


def _table_of(model: type[Model]) -> Table:
    options = model._meta
    counters = [str(field.column) for field in options.local_concrete_fields if _is_counted(field)]
    return Table(options.db_table, tuple(_columns(model)), counters[0] if counters else "")


def _is_counted(field: "Field[Any, Any]") -> bool:
    return field.get_internal_type() in ("AutoField", "BigAutoField", "SmallAutoField")


def _columns(model: type[Model]) -> Iterator[Column]:
    for field in model._meta.local_concrete_fields:
        if getattr(field, "generated", False):
            continue  # the database computes it
        stored: Any = field
        while stored.remote_field:
            stored = stored.target_field
        kind = KIND_OF_FIELD.get(stored.get_internal_type())
        if kind is None:
            raise MoveError(
                f"{model._meta.db_table}.{field.column} is a {type(stored).__name__}, which a move does not "
                "know. Add it to chat/backup/move/values.py."
            )
        yield Column(str(field.column), kind)
