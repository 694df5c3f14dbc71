"""The tables of a site, as a database has them and an archive describes them."""

from collections.abc import Iterator
from typing import Annotated, Any, Protocol

import msgspec
from django.apps import apps

from .values import ColumnKind

# Names are printed, and a control character could steer the terminal.
Name = Annotated[str, msgspec.Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f]{1,1000}\Z")]
Count = Annotated[int, msgspec.Meta(ge=0)]
TableRow = list[Any]

# The types of both databases. SQLite's have a length or "unsigned", too.
KIND_OF_TYPE = {
    "smallint": ColumnKind.INTEGER,
    "integer": ColumnKind.INTEGER,
    "bigint": ColumnKind.INTEGER,
    "bool": ColumnKind.BOOLEAN,
    "boolean": ColumnKind.BOOLEAN,
    "real": ColumnKind.FLOAT,
    "double precision": ColumnKind.FLOAT,
    "varchar": ColumnKind.TEXT,
    "character varying": ColumnKind.TEXT,
    "text": ColumnKind.TEXT,
    "date": ColumnKind.TEXT,
    "datetime": ColumnKind.TIME,
    "timestamp with time zone": ColumnKind.TIME,
    "char(32)": ColumnKind.UUID,
    "uuid": ColumnKind.UUID,
    "jsonb": ColumnKind.JSON,
    "char(39)": ColumnKind.ADDRESS,
    "inet": ColumnKind.ADDRESS,
    "blob": ColumnKind.BYTES,
    "bytea": ColumnKind.BYTES,
}


class BackupError(Exception):
    """An archive cannot be made, read or restored, or a site be moved. The message is a whole sentence."""


class Table(msgspec.Struct, forbid_unknown_fields=True):
    """A table: the kinds of its columns by their names, and the number of its rows.

    `counter` is the column whose values the database counts up, "" if there is none. `last` is the highest
    number that it has given, also to a row deleted since.
    """

    name: Name
    columns: dict[Name, ColumnKind]
    counter: str = ""
    rows: Count = 0
    last: int = 0

    @property
    def kinds(self) -> list[ColumnKind]:
        return list(self.columns.values())


class Rows(Protocol):
    """What tables can be filled from: an archive, or a database."""

    def tables(self) -> list[Table]: ...

    def rows(self, table: Table) -> Iterator[TableRow]:
        """Yield the rows, each with its values in the form of `values.py`, in the order of the columns."""


def kind_of(column: str, type_: str) -> ColumnKind:
    """Return the kind of a column of this type. Raises BackupError: when it is unknown."""
    family = type_ if type_ in KIND_OF_TYPE else type_.removesuffix(" unsigned").partition("(")[0]
    if family not in KIND_OF_TYPE:
        raise BackupError(f"{column} is of the type {type_}, which a backup does not know.")
    return KIND_OF_TYPE[family]


def unknown(tables: list[Table]) -> list[str]:
    """Return the tables and columns that no model of this version has, by name."""
    models = apps.get_models(include_auto_created=True)
    known = {
        model._meta.db_table: {field.column for field in model._meta.local_concrete_fields}
        for model in models
    }
    found = [table.name for table in tables if table.name not in known]
    for table in tables:
        if table.name in known:
            found += [f"{table.name}.{name}" for name in table.columns.keys() - known[table.name]]
    return sorted(found)
