"""The fields of a prompt and their values, for pages without scripts: as in static/js/prompt_fields.js."""

import re
from collections.abc import Mapping

# White space as JavaScript's `\s` has it.
WHITE = "\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
EDGE = f"[^{{}}:{WHITE}]"
PROMPT_FIELD = re.compile(rf"\{{\{{[ \t]*({EDGE}(?:[^{{}}:\n]*{EDGE})?)[ \t]*(?::([^{{}}]*))?\}}\}}")


def fields_of(text: str) -> dict[str, str]:
    """Return the fields by name with their defaults, in their order. The first default of a name counts."""
    found: dict[str, str] = {}
    for field in PROMPT_FIELD.finditer(text):
        found[field[1]] = found.get(field[1]) or field[2] or ""
    return found


def filled_length(text: str, values: Mapping[str, str]) -> int:
    """Return the length of `fill_fields(text, values)`: a field that stands often can make it huge."""
    found = PROMPT_FIELD.finditer(text)
    return len(text) + sum(len(values[each[1]]) - len(each[0]) for each in found if each[1] in values)


def fill_fields(text: str, values: Mapping[str, str]) -> str:
    """Return the text with its fields filled in; a field without a value stays as it is written."""
    return PROMPT_FIELD.sub(lambda field: values.get(field[1], field[0]), text)
