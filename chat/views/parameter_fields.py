"""The parameters of a conversation in a request: an object in JSON, one field each in a form."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.formats import grouped_number
from chat.upstream.parameters import CHOICES, LEVEL, NUMBER, SWITCH, Parameter, Value

from . import request_fields
from .errors import is_form

FIELD = "parameters"
SWITCHED = {"on": True, "off": False}  # form values of a switch
RESET = "reset"  # value of FIELD in a form: reset all parameters


def names(request: HttpRequest) -> list[str]:
    """Return the names of the request's fields that can hold parameters."""
    return [*CHOICES, FIELD] if is_form(request) else [FIELD]


def read(request: HttpRequest, sent: dict[str, Any]) -> dict[str, Value | None] | None:
    """Return the sent parameters, a value of None resetting one; None if none was sent. Raises BadRequest."""
    if is_form(request) and sent.get(FIELD) == RESET:
        return dict.fromkeys(CHOICES)
    if is_form(request) and FIELD not in sent:
        found = {name: _typed(CHOICES[name], sent[name]) for name in CHOICES if name in sent}
    elif sent.get(FIELD) is None:
        return None
    else:
        found = sent[FIELD]
        if not isinstance(found, dict):
            raise BadRequest(_("“%(name)s” must be a JSON object.") % {"name": FIELD})
    for name, value in found.items():
        _check(name, value)
    return found or None


def _typed(parameter: Parameter, text: str) -> Any:
    """Convert a form's text: an empty field to None; what cannot be converted stays text, for `_check`."""
    text = text.strip()
    if not text:
        return None
    if parameter.kind == SWITCH:
        return SWITCHED.get(text, text)
    if parameter.kind == LEVEL:
        return text
    try:
        return float(text) if parameter.kind == NUMBER else int(text)
    except ValueError:
        return text


def _check(name: str, value: Any) -> None:
    parameter = CHOICES.get(name)
    if parameter is None:
        unknown = _("There is no parameter “%(name)s”.") % {"name": name[:100]}
        raise BadRequest(f"{unknown} {request_fields.listed_choices(CHOICES)}")
    if value is not None and not parameter.is_valid(value):
        raise BadRequest(_unfit(parameter))


def _unfit(parameter: Parameter) -> str:
    about = {
        "name": parameter.name,
        "least": grouped_number(parameter.minimum),
        "most": grouped_number(parameter.maximum),
        "names": ", ".join(parameter.levels),
    }
    if parameter.kind == SWITCH:
        return _("“%(name)s” must be true or false.") % about
    if parameter.kind == LEVEL:
        return _("“%(name)s” must be one of: %(names)s.") % about
    if parameter.kind == NUMBER:
        return _("“%(name)s” must be a number from %(least)s to %(most)s.") % about
    return _("“%(name)s” must be a whole number from %(least)s to %(most)s.") % about
