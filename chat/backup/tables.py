"""The tables of a site, as a database has them and an archive describes them, and the values in them.

A value has one form for every database: the one in which Django stores it on SQLite. PostgreSQL's `COPY`
accepts the same form: a UUID without hyphens, a time in UTC without its zone, 0 and 1. JSON is its text. In
an archive, bytes are base64.
"""

import base64
import ipaddress
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Protocol

import msgspec
from django.apps import apps

ConvertValue = Callable[[Any], Any]
"""Called with a value that is not NULL."""

WHOLE_SECOND = ".000000"
SECONDS_CHARS, MICROSECONDS_CHARS = len("2027-01-31 12:00:00"), len("2027-01-31 12:00:00.000000")
REPLACEMENT = "\ufffd"
# Each escape of a JSON text, so that a backslash that is itself escaped begins none. A pair comes first.
ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
NOT_STORABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})")


class ColumnKind(Enum):
    """A kind of column, by how its values differ between the databases."""

    INTEGER = "integer"
    BOOLEAN = "boolean"
    FLOAT = "float"
    TEXT = "text"
    TIME = "time"
    UUID = "uuid"
    JSON = "json"
    ADDRESS = "address"
    BYTES = "bytes"


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
    """A source to fill tables from: an archive, or a database."""

    def tables(self) -> list[Table]: ...

    def rows(self, table: Table) -> Iterator[TableRow]:
        """Yield the rows, each with its values in the form of this module, in the order of the columns."""


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


def storable_json(text: str) -> str:
    r"""Return the JSON text with U+FFFD in place of each `\u0000` and each half of a surrogate pair."""
    if "\\u" not in text:
        return text
    return ESCAPE.sub(lambda found: r"\ufffd" if NOT_STORABLE.fullmatch(found[0]) else found[0], text)


def time_of_sqlite(text: str) -> str:
    """Return the time as Django writes it: with six digits of a second, or with none."""
    if SECONDS_CHARS < len(text) < MICROSECONDS_CHARS and text[SECONDS_CHARS] == ".":
        text = text.ljust(MICROSECONDS_CHARS, "0")
    return text.removesuffix(WHOLE_SECOND)


def time_of_postgres(text: str) -> str:
    return time_of_sqlite(text.removesuffix("+00"))


FROM_SQLITE: dict[ColumnKind, ConvertValue] = {
    ColumnKind.FLOAT: float,
    ColumnKind.TIME: time_of_sqlite,
}
FROM_ARCHIVE: dict[ColumnKind, ConvertValue] = {ColumnKind.BYTES: base64.b64decode}
STORABLE_IN_POSTGRES: dict[ColumnKind, ConvertValue] = {
    # With U+FFFD in place of each NUL, which PostgreSQL cannot hold; the length stays.
    ColumnKind.TEXT: lambda text: text.replace("\0", REPLACEMENT),
    ColumnKind.JSON: storable_json,
}
FROM_POSTGRES: dict[ColumnKind, ConvertValue] = {
    ColumnKind.INTEGER: int,
    ColumnKind.BOOLEAN: {"f": 0, "t": 1}.__getitem__,
    ColumnKind.FLOAT: float,
    ColumnKind.TIME: time_of_postgres,
    ColumnKind.UUID: lambda text: text.replace("-", ""),
    ColumnKind.BYTES: lambda text: bytes.fromhex(text.removeprefix("\\x")),
}


def _comparable_json(text: str) -> str:
    """Return a text that is equal for equal values. `jsonb` keeps neither order nor the form of a number."""
    return repr(_ordered(json.loads(text, parse_float=Decimal, parse_int=Decimal)))


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if isinstance(value, Decimal):
        return _shortest(value)
    return value


def _shortest(number: Decimal) -> tuple[int, str, int]:
    """Return sign, digits and exponent without zeros at the end, so that 1, 1.0 and 10e-1 become equal."""
    sign, digits, exponent = number.as_tuple()
    written = "".join(map(str, digits)).lstrip("0")
    kept = written.rstrip("0")
    return (sign, kept, int(exponent) + len(written) - len(kept)) if kept else (0, "", 0)


COMPARABLE: dict[ColumnKind, ConvertValue] = {
    ColumnKind.JSON: _comparable_json,
    ColumnKind.ADDRESS: lambda text: ipaddress.ip_address(text).packed.hex(),
}


def converter(
    kinds: list[ColumnKind], conversions: dict[ColumnKind, ConvertValue]
) -> Callable[[Any], list[Any]]:
    work = [(place, conversions[kind]) for place, kind in enumerate(kinds) if kind in conversions]

    def convert(row: Any) -> list[Any]:
        values = list(row)
        for place, change in work:
            if values[place] is not None:
                values[place] = change(values[place])
        return values

    return convert
