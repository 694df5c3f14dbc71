"""Refusals of a request's fields: in OpenAI's words, with the path of the field as `param`."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import BadRequest

Object = dict[str, Any]
MAX_QUOTED_CHARS = 100  # of a name or value that the client chose
WRONG_TYPE = gettext_noop("“%(name)s” has the wrong type.")
MISSING = gettext_noop("“%(name)s” is missing.")
NOT_SUPPORTED = gettext_noop("“%(name)s” is not supported.")
NO_TEXT = gettext_noop("“%(name)s” contains characters that aren’t valid text.")
NO_CHOICE = gettext_noop("“%(name)s” has a value that isn’t supported here: %(value)s.")
TOO_SMALL = gettext_noop("“%(name)s” must be at least %(limit)s.")
TOO_LARGE = gettext_noop("“%(name)s” can be at most %(limit)s.")
EMPTY = gettext_noop("“%(name)s” can’t be empty.")
TOO_LONG = gettext_noop("“%(name)s” can have at most %(limit)s entries or characters.")
OUT_OF_RANGE = gettext_noop("“%(name)s” is too large a number.")
# (what msgspec says, OpenAI's code for it, our sentence). `{kind}` is that of the first group.
REFUSALS = [
    (r"Object missing required field `(?P<field>[^`]*)`", "missing_required_parameter", MISSING),
    (r"Object contains unknown field `(?P<field>[^`]*)`", "unknown_parameter", NOT_SUPPORTED),
    (r"Expected `(?P<kind>int|float)` <=? (?P<limit>[-\d.e+]+)", "{kind}_above_max_value", TOO_LARGE),
    (r"Expected `(?P<kind>int|float)` >=? (?P<limit>[-\d.e+]+)", "{kind}_below_min_value", TOO_SMALL),
    (r"Expected `array` of length >= 1", "empty_array", EMPTY),
    (r"Expected `(?P<kind>array|str)` of length <= (?P<limit>\d+)", "{kind}_above_max_length", TOO_LONG),
    (r"Expected `str` matching regex", "invalid_value", NO_TEXT),
    (r"Invalid (?:enum )?value (?P<value>.*)", "invalid_value", NO_CHOICE),
    (r"(?:Number|Integer value) out of range", "invalid_value", OUT_OF_RANGE),
    (r"Expected `", "invalid_type", WRONG_TYPE),
]
OPENAI_KINDS = {"int": "integer", "float": "decimal", "str": "string", "array": "array"}
PATH = re.compile(r" - at `(?:key in )?\$\.?(.*)`$", re.S)


class InvalidField(BadRequest):
    """A field that is refused. `param` is its path, such as `messages[2].content[0].image_url`."""

    def __init__(self, message: str, param: str, code: str = "invalid_value") -> None:
        super().__init__(message)
        self.param, self.code = param, code


def invalid(sentence: str, param: str, code: str = "invalid_value", **values: object) -> InvalidField:
    """Return the refusal with a sentence, marked for translation, that names the field and has `values`."""
    return InvalidField(_(sentence) % {"name": param, **values}, param, code)


def unsupported(name: str, instead: str = "") -> InvalidField:
    """Return the refusal of a field that has no effect here. `instead`: a further sentence, translated."""
    name = name[:MAX_QUOTED_CHARS]
    return InvalidField(
        f"{_(NOT_SUPPORTED) % {'name': name}} {instead}".strip(), name, "unsupported_parameter"
    )


def check(sent: Mapping[str, Any], body: type) -> None:
    """Raise InvalidField if the fields do not fit the struct `body`. A boolean is no number."""
    try:
        msgspec.convert(sent, body)
    except msgspec.ValidationError as error:
        raise _refusal(str(error)) from None  # not chained, because its text quotes the body


def _refusal(said: str) -> InvalidField:
    path = found[1] if (found := PATH.search(said)) else ""
    for pattern, code, sentence in REFUSALS:
        if match := re.match(pattern, said, re.S):
            named = match.groupdict()
            param = ".".join(filter(None, [path, named.pop("field", "")]))[:MAX_QUOTED_CHARS]
            kind = OPENAI_KINDS.get(named.pop("kind", ""), "")
            value = PATH.sub("", named.get("value") or "")[:MAX_QUOTED_CHARS]
            return invalid(sentence, param, code.format(kind=kind), **named | {"value": value})
    return invalid(WRONG_TYPE, path[:MAX_QUOTED_CHARS], "invalid_type")
