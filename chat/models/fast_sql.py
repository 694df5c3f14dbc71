"""Inserts and updates whose SQL is compiled once: only for storing a turn and ending its run.

Django's compiler builds the SQL of a query anew at each call, which takes several times as long as the
database takes to run it. With `bulk_create`, `save` and `update` the statements of a send take 2.8 times the
CPU time, 1.3 ms instead of 0.46 (SQLite): the difference is a sixth of the 5 ms that a send may cost.

Values go through `Field.get_db_prep_save`, as Django's own do, except texts, numbers, booleans and None of
fields that store them as they are. `Field.pre_save` is skipped, so `auto_now` and the like do not work; model
signals are not sent; and the database is always "default".
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model

INTEGERS = (
    models.BigAutoField,
    models.PositiveSmallIntegerField,
    models.PositiveIntegerField,
    models.PositiveBigIntegerField,
)
STORED_AS_IS: dict[type, type] = {
    models.CharField: str,
    models.TextField: str,
    models.BooleanField: bool,
    models.FloatField: float,
    **dict.fromkeys(INTEGERS, int),
}


def insert(*rows: Model) -> None:
    """Insert new rows of one model in one statement. Raises IntegrityError."""
    model, connection = type(rows[0]), connections["default"]
    names = [field.attname for field in model._meta.concrete_fields]
    values = _prepared(model, [(name, getattr(row, name)) for row in rows for name in names], connection)
    with connection.cursor() as cursor:
        cursor.execute(_insert(model, len(rows)), values)
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias


def update(model: type[Model], changes: dict[str, Any], /, **where: Any) -> int:
    """Set columns of the rows that match `where`. Return the number of rows that matched.

    Both name columns by the model's attributes (`user_id`). A value in `where` is compared with `=`, a tuple
    with `IN`, and None with `IS NULL`.
    """
    connection = connections["default"]
    wanted = {name: _several(value) for name, value in where.items()}
    named = [*changes.items(), *((name, value) for name, several in wanted.items() for value in several)]
    values = _prepared(model, named, connection)
    conditions = tuple((name, len(several)) for name, several in wanted.items())
    with connection.cursor() as cursor:
        cursor.execute(_update(model, tuple(changes), conditions), values)
        return cursor.rowcount


def _prepared(
    model: type[Model], named: Iterable[tuple[str, Any]], connection: BaseDatabaseWrapper
) -> list[Any]:
    """Return the values of these attributes as the database takes them."""
    fields = _fields(model)
    return [
        value if value is None or type(value) is as_is else field.get_db_prep_save(value, connection)
        for name, value in named
        for field, as_is in (fields[name],)
    ]


@cache
def _insert(model: type[Model], rows: int) -> str:
    columns = [_column(model, field.name) for field in model._meta.concrete_fields]
    row = f"({_placeholders(len(columns))})"
    return f"INSERT INTO {_table(model)} ({', '.join(columns)}) VALUES {', '.join([row] * rows)}"  # noqa: S608


@cache
def _update(model: type[Model], changed: tuple[str, ...], where: tuple[tuple[str, int], ...]) -> str:
    changes = ", ".join(f"{_column(model, name)} = %s" for name in changed)
    conditions = " AND ".join(
        f"{_column(model, name)} IN ({_placeholders(several)})"
        if several
        else f"{_column(model, name)} IS NULL"
        for name, several in where
    )
    return f"UPDATE {_table(model)} SET {changes} WHERE {conditions}"  # noqa: S608


def _several(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _table(model: type[Model]) -> str:
    return _quoted(model._meta.db_table)


def _column(model: type[Model], name: str) -> str:
    field = model._meta.get_field(name)
    assert isinstance(field, Field)
    return _quoted(str(field.column))


@cache
def _fields(model: type[Model]) -> "dict[str, tuple[Field[Any, Any], type | None]]":
    """Return, by attribute, the field that prepares a value, and the type of the values stored as they are.

    The values of a foreign key are prepared by the field that it refers to.
    """
    targets = {
        field.attname: field.target_field if isinstance(field, models.ForeignKey) else field
        for field in model._meta.concrete_fields
    }
    return {name: (field, STORED_AS_IS.get(type(field))) for name, field in targets.items()}


def _quoted(name: str) -> str:
    return connections["default"].ops.quote_name(name)


def _placeholders(several: int) -> str:
    return ", ".join(["%s"] * several)
