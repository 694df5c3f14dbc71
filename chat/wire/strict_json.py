"""JSON of others, read so that whatever was read can be compared, stored and written again.

Python's parser takes more than RFC 8259 allows and more than is of use: `NaN`, numbers that become infinite,
integers that no float can hold, escapes of half a surrogate pair, and nesting as deep as the stack. Of a key
that stands there twice, the last one counts, as it does nearly everywhere.
https://www.rfc-editor.org/rfc/rfc8259
"""

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = (
    64  # levels of brackets: what can be read only just cannot be written again further down the stack
)
MAX_INTEGER_DIGITS = 300  # characters; a float holds 308 digits
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # an escape of one, of which two may make a character


class InvalidJSON(ValueError):
    """The text is a whole sentence, marked for translation."""


def gettext_noop(sentence: str) -> str:
    """Marks it for translators, by the name of Django's function: it is translated where it is shown."""
    return sentence


NOT_JSON = gettext_noop("This is not JSON.")
TOO_DEEP = gettext_noop("This is nested too deeply.")
OUT_OF_RANGE = gettext_noop("A number is too large.")
NO_TEXT = gettext_noop("A text holds half a character (a lone surrogate).")


def loads(body: bytes) -> Any:
    """Parse `body`, which has to be UTF-8. Raises InvalidJSON."""
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_constant, parse_float=_float, parse_int=_integer)
    except InvalidJSON:
        raise
    except RecursionError:
        raise InvalidJSON(TOO_DEEP) from None
    except ValueError:  # its text quotes the body
        raise InvalidJSON(NOT_JSON) from None
    _check(value, halves=bool(SURROGATE.search(text)))
    return value


def _constant(name: str) -> NoReturn:
    raise InvalidJSON(NOT_JSON)


def _float(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise InvalidJSON(OUT_OF_RANGE)
    return number


def _integer(written: str) -> int:
    if len(written) > MAX_INTEGER_DIGITS:
        raise InvalidJSON(OUT_OF_RANGE)
    return int(written)


def _check(value: Any, *, halves: bool) -> None:
    """Refuse what is nested too deeply, and where there may be `halves` of surrogate pairs, those."""
    level = [value]
    for _depth in range(MAX_DEPTH + 1):
        if halves and any(_is_broken(each) for each in level if isinstance(each, str)):
            raise InvalidJSON(NO_TEXT)
        level = [child for each in level if isinstance(each, dict | list) for child in _children(each)]
        if not level:
            return
    raise InvalidJSON(TOO_DEEP)


def _children(value: Any) -> list[Any]:
    return [*value, *value.values()] if isinstance(value, dict) else value


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
