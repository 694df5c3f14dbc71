"""Readers for values in this chat's own files. A deviation refuses the object."""

import math
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NoReturn, TypeVar

from chat.transfer.own_format import Object
from chat.transfer.problems import ConversationProblem
from chat.transfer.records import MAX_IMPORTED_TEXT_CHARS, MAX_PARAMETERS
from chat.wire.text import sanitize

MAX_NUMBER = 1e15
T = TypeVar("T")


def refuse() -> NoReturn:
    raise ConversationProblem("invalid")


def check_version(value: Object, known: int) -> None:
    if value.get("version") != known:
        raise ConversationProblem("version" if isinstance(value.get("version"), int) else "invalid")


def record(value: Any) -> Object:
    return value if isinstance(value, dict) else refuse()


def items(raw: Object, name: str, most: int | None = None) -> list[Any]:
    value = raw.get(name, [])
    if not isinstance(value, list) or (most is not None and len(value) > most):
        refuse()
    return value


def text(raw: Object, name: str, longest: int = MAX_IMPORTED_TEXT_CHARS, *, missing: Any = None) -> str:
    return string(raw.get(name, missing), longest)


def string(value: Any, longest: int = MAX_IMPORTED_TEXT_CHARS) -> str:
    if not isinstance(value, str):
        refuse()
    if len(value) > longest:
        raise ConversationProblem("long")
    if sanitize(value) != value:
        raise ConversationProblem("text")
    return value


def whole(value: Any, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        refuse()
    return value


def number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse()
    if not math.isfinite(value) or abs(value) > MAX_NUMBER:
        refuse()
    return value


def identifier(value: Any) -> str:
    """Return a UUID in its canonical form."""
    try:
        return str(uuid.UUID(value)) if isinstance(value, str) else refuse()
    except ValueError:
        refuse()


def moment(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else refuse()
        return found.astimezone(UTC) if found.tzinfo else refuse()
    except (ValueError, OverflowError):
        refuse()


def optional(read: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else read(value)


def parameters(value: Any) -> Object:
    """Return those values of which a parameter can be. Another version may have written others."""
    found = record(value)
    plain = {name: each for name, each in found.items() if not isinstance(each, list | dict)}
    return dict(islice(plain.items(), MAX_PARAMETERS))
