"""Parsing of the groups to which something is published, from JSON or a form."""

from typing import Any

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest

MAX_GROUPS = 1_000
MAX_DIGITS = 9  # of an id; no site has more groups


def groups(sent: dict[str, Any]) -> list[int]:
    """Return the ids of the chosen groups. Raises BadRequest."""
    values = sent.get("groups", [])
    if not isinstance(values, list) or len(values) > MAX_GROUPS or not all(map(_is_id, values)):
        raise BadRequest(_("“%(name)s” must be a list of numbers.") % {"name": "groups"})
    return [int(value) for value in values]


def _is_id(value: Any) -> bool:
    """Return True for the id of a row, also as a form writes it."""
    if isinstance(value, str):
        return value.isascii() and value.isdecimal() and len(value) <= MAX_DIGITS
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**MAX_DIGITS
