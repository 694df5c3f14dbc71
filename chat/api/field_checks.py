"""Checks of single fields: each returns the value, or raises BadRequest with the field's name."""

from collections.abc import Mapping
from typing import Any, NoReturn

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest

Object = dict[str, Any]


def get_field(sent: Mapping[str, Any], name: str, types: tuple[type, ...], default: Any = None) -> Any:
    """Return the field's value, `default` if it is missing or null.

    Raises BadRequest when it is of none of `types`; a boolean does not count as int.
    """
    value = sent.get(name)
    if value is None:
        return default
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise BadRequest(_("“%(name)s” has the wrong type.") % {"name": name})
    return value


def get_objects(sent: Mapping[str, Any], name: str, most: int) -> list[Object]:
    """Return the field's list of at most `most` objects, an empty list if it is missing or null."""
    found: list[Object] = get_field(sent, name, (list,), [])
    if len(found) > most or not all(isinstance(each, dict) for each in found):
        words = _("“%(name)s” must be a list of at most %(most)s objects.")
        raise BadRequest(words % {"name": name, "most": most})
    return found


def plain_text(name: str, value: str) -> str:
    """Return `value`. Raises BadRequest when it contains NUL, which PostgreSQL cannot store."""
    if "\0" in value:
        raise BadRequest(_("“%(name)s” contains characters that aren’t valid text.") % {"name": name})
    return value


def within(name: str, number: float, least: float, most: float) -> float:
    if not least <= number <= most:
        words = _("“%(name)s” must be between %(least)s and %(most)s.")
        raise BadRequest(words % {"name": name, "least": least, "most": most})
    return number


def refuse_choice(name: str, allowed: tuple[str, ...]) -> NoReturn:
    words = _("“%(name)s” must be one of: %(names)s.")
    raise BadRequest(words % {"name": name, "names": ", ".join(allowed)})
