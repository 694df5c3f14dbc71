"""The form controls for a model's parameters: one row for each parameter that the model supports."""

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.db import run_in_db
from chat.engine.engine import Engine, get_engine
from chat.exceptions import BadRequest
from chat.formats import grouped_number
from chat.model_catalog.catalog import catalog_for_user
from chat.upstream.catalogue import LlmModel, UnknownModel
from chat.upstream.parameters import CHOICES, LEVEL, SWITCH, Parameter, Value, supported_parameters

from . import access

# Label and one-line description of each parameter.
ABOUT = {
    "thinking": (_("Thinking"), _("Before it answers. Without it replies come sooner.")),
    "effort": (_("How much it thinks"), _("More takes longer, and uses up more tokens.")),
    "max_tokens": (_("Longest reply"), _("In tokens, its thinking included.")),
    "temperature": (_("Temperature"), _("Low is matter-of-fact, high is inventive.")),
    "top_p": (_("Top P"), _("Words come from so large a part of the likely ones.")),
    "top_k": (_("Top K"), _("Words come from so many of the likeliest.")),
    "repetition_penalty": (_("Repetition penalty"), _("Above 1 it repeats itself less.")),
    "frequency_penalty": (
        _("Frequency penalty"),
        _("Higher: words that came often come less."),
    ),
    "presence_penalty": (
        _("Presence penalty"),
        _("Higher: it moves on to something new."),
    ),
    "seed": (_("Seed"), _("The same one makes much the same reply again.")),
}
WORDS = {
    True: _("On"),
    False: _("Off"),
    "low": _("Low"),
    "medium": _("Medium"),
    "high": _("High"),
    "xhigh": _("Very high"),
    "max": _("Greatest"),
}


@access.require_methods("GET", "HEAD")
async def of_model(request: HttpRequest) -> HttpResponseBase:
    """Return the controls of `?model=` without chosen values: fetched when the user changes the model."""
    return await run_in_db(_of_model, await get_engine(), request)


def _of_model(engine: Engine, request: HttpRequest) -> HttpResponse:
    offered = catalog_for_user(engine.catalogue, access.get_user(request))
    try:
        model = offered.get(request.GET.get("model", offered.default.id))
    except UnknownModel as error:
        raise BadRequest(gettext("There is no such model here. Choose another one.")) from error
    form = "composer" if "new" in request.GET else "instruct"
    return render(request, "chat/_parameters.html", {"controls": controls(model, {}), "form": form})


def controls(model: LlmModel, chosen: Mapping[str, Value]) -> dict[str, Any]:
    """Return the form's context: the model, all chosen parameters, and a row per supported parameter."""
    takes = {parameter.name: parameter for parameter in supported_parameters(model)}
    shown = [takes[name] for name in CHOICES if name in takes]
    return {
        "model": model.id,
        "name": model.name,
        "chosen": json.dumps(dict(chosen)),
        "thinking": [_row(each, chosen.get(each.name)) for each in shown if each.kind in (SWITCH, LEVEL)],
        "numbers": [_row(each, chosen.get(each.name)) for each in shown if each.kind not in (SWITCH, LEVEL)],
        "open": any(each.name in chosen for each in shown if each.kind not in (SWITCH, LEVEL)),
    }


def _row(parameter: Parameter, chosen: Value | None) -> dict[str, Any]:
    """Return the context of one control; `value` is a form's text, "" where the model's default applies."""
    label, about = ABOUT[parameter.name]
    value = None if chosen is None else parameter.clamp(chosen)
    row = {"name": parameter.name, "label": label, "about": about, "value": _written(value)}
    if parameter.kind in (SWITCH, LEVEL):
        values: tuple[Value, ...] = (True, False) if parameter.kind == SWITCH else parameter.levels
        options = [(_written(each), WORDS[each]) for each in values]
        return row | {"options": options, "default": WORDS.get(parameter.default)}
    default = parameter.default
    assert not isinstance(default, str)
    return row | {
        "min": str(parameter.minimum),
        "max": str(parameter.maximum),
        "step": str(parameter.step),
        "whole": parameter.step == 1,
        "least": grouped_number(parameter.minimum),
        "most": grouped_number(parameter.maximum),
        "default": "" if default is None else grouped_number(default),
    }


def _written(value: Value | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
