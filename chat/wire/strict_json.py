"""A strict JSON parser for untrusted input: each parsed value can be compared, stored and serialised again.

Python's parser accepts more than RFC 8259 allows and than can be used: `NaN`, numbers that become infinite,
integers too large for a float, escapes of half a surrogate pair, and nesting as deep as the stack. Of a
duplicate key the last value counts, as in nearly all parsers.
https://www.rfc-editor.org/rfc/rfc8259
"""

import json
import math
import re
from typing import Any, NoReturn

# Levels of nesting. Without a limit, a value that could just be parsed could not be serialised deeper in the
# call stack.
MAX_JSON_DEPTH = 64
MAX_INTEGER_DIGITS = 300  # a float holds 308
# Of a body whose lists and objects are counted: writing more values as JSON takes a second.
MAX_COMMAS = 300_000
MAX_QUOTES = 2_000_000  # of strings in a body whose lists and objects are counted
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")  # of a surrogate, alone or in a pair
LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # of a pair, the parser makes one character


class InvalidJSON(ValueError):
    """The body is not acceptable JSON. The exception's text is a sentence marked for translation."""


def gettext_noop(sentence: str) -> str:
    """Mark a string for translation where it is displayed; makemessages finds it by this function's name."""
    return sentence


NOT_JSON = gettext_noop("This isn’t valid JSON.")
TOO_MANY = gettext_noop("The JSON has too many lists and objects.")
TOO_DEEP = gettext_noop("The JSON is nested too deeply.")
OUT_OF_RANGE = gettext_noop("A number is too large.")
HALF_CHARACTER = gettext_noop("A string contains half a character (a lone surrogate).")


def loads(
    body: bytes,
    *,
    max_depth: int = MAX_JSON_DEPTH,
    max_containers: int | None = None,
    allow_halves: bool = False,
) -> Any:
    """Parse `body`, which must be UTF-8. Raises InvalidJSON.

    `max_containers`: lists and objects together, each of which costs far more memory than its two characters.
    With it, the values are limited as well, to about MAX_COMMAS.
    `allow_halves`: strings may contain lone surrogates, which the caller replaces.
    """
    if max_containers is not None and _has_many(body, max_containers):
        _check_outside_strings(body, max_containers)
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_constant, parse_float=_float, parse_int=_integer)
    except InvalidJSON:
        raise
    except RecursionError:
        raise InvalidJSON(TOO_DEEP) from None
    except ValueError:  # not chained, because its text quotes the body
        raise InvalidJSON(NOT_JSON) from None
    _check(value, max_depth, halves=not allow_halves and bool(SURROGATE_ESCAPE.search(text)))
    return value


def _has_many(body: bytes, containers: int) -> bool:
    return body.count(b"[") + body.count(b"{") > containers or body.count(b",") > MAX_COMMAS


def _check_outside_strings(body: bytes, containers: int) -> None:
    """Raise InvalidJSON for many lists, objects or values outside of strings: a text may be code.

    Without a regular expression, which would hold the interpreter's lock for seconds.
    """
    body = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if body.count(b'"') > MAX_QUOTES or _has_many(b"".join(body.split(b'"')[::2]), containers):
        raise InvalidJSON(TOO_MANY)


def _constant(name: str) -> NoReturn:
    raise InvalidJSON(NOT_JSON)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidJSON(OUT_OF_RANGE)
    return number


def _integer(text: str) -> int:
    if len(text) > MAX_INTEGER_DIGITS:
        raise InvalidJSON(OUT_OF_RANGE)
    return int(text)


def _check(value: Any, max_depth: int, *, halves: bool) -> None:
    """Raise InvalidJSON if the value is nested too deeply or contains a lone surrogate.

    `halves` False: the text contains no escape of a surrogate, so strings need no check.
    """
    level = [value]
    for _depth in range(max_depth + 1):
        if halves and any(LONE_SURROGATE.search(each) for each in level if isinstance(each, str)):
            raise InvalidJSON(HALF_CHARACTER)
        level = [child for each in level if isinstance(each, dict | list) for child in _children(each)]
        if not level:
            return
    raise InvalidJSON(TOO_DEEP)


def _children(value: Any) -> list[Any]:
    return [*value, *value.values()] if isinstance(value, dict) else value
