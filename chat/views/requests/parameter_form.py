"""The form controls for a model's parameters: one row for each parameter that the model supports."""

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from chat.formats import grouped_number
from chat.upstream.catalog import LlmModel
from chat.upstream.parameters import CHOSEN_PARAMETERS, LEVEL, SWITCH, Parameter, Value, supported_parameters

from . import access

# Label and one-line description of each parameter.
PARAMETER_LABELS = {
    "thinking": (_("Thinking"), _("Replies are faster without it.")),
    "effort": (_("Thinking effort"), _("More effort takes longer and uses more tokens.")),
    "max_tokens": (_("Longest reply (tokens)"), _("Includes the thinking.")),
    "temperature": (_("Temperature"), _("Lower is more focused, higher is more creative.")),
    "top_p": (_("Top P"), _("Each word is chosen from the most likely ones, up to this total probability.")),
    "top_k": (_("Top K"), _("Each word is chosen from this many of the most likely ones.")),
    "repetition_penalty": (_("Repetition penalty"), _("Above 1, the model repeats itself less.")),
    "frequency_penalty": (
        _("Frequency penalty"),
        _("Higher values avoid frequently used words."),
    ),
    "presence_penalty": (
        _("Presence penalty"),
        _("Higher values encourage new topics."),
    ),
    "seed": (_("Seed"), _("The same seed gives similar replies.")),
}
# The form offers a smaller range than some models accept, because values beyond it give gibberish. Requests
# may have any value that the model accepts.
FORM_RANGES = {"temperature": (0, 2), "top_p": (0.01, 1), "repetition_penalty": (0.5, 2)}
THINKING = "thinking"
FORM_IDS = {"new": "composer", "assistant": "assistant-form"}  # the form of the controls, by a query's name
TEMPERATURE_MARKS = (0, 0.5, 1, 1.5, 2)  # of the temperature's slider
VALUE_NAMES = {
    True: _("On"),
    False: _("Off"),
    "low": _("Low"),
    "medium": _("Medium"),
    "high": _("High"),
    "xhigh": _("Very high"),
    "max": _("Maximum"),
}


@access.require_methods("GET", "HEAD", part=True)
def of_model(request: HttpRequest) -> HttpResponse:
    """Return the controls of `?model=` without chosen values: fetched when the user changes the model.

    They belong to the form of a conversation's settings; with `&new` or `&assistant` to another one.
    """
    models = access.get_models(request)
    model = access.get_model_or_400(models, request.GET.get("model", models.default.id))
    form = next((FORM_IDS[name] for name in FORM_IDS if name in request.GET), "instruct")
    rows = controls(model, {}, switches="assistant" in request.GET)
    return render(request, "chat/_parameters.html", {"controls": rows, "form": form})


def controls(model: LlmModel, chosen: Mapping[str, Value], *, switches: bool = False) -> dict[str, Any]:
    """Return the form's context: the model, all chosen parameters, and a row per supported parameter.

    With `switches` also thinking, which for a chat is switched in its message box.
    """
    takes = {parameter.name: parameter for parameter in supported_parameters(model)}
    supported = [takes[name] for name in CHOSEN_PARAMETERS if name in takes]
    numbers = [each for each in supported if each.kind not in (SWITCH, LEVEL)]
    return {
        "model": model.id,
        "name": model.name,
        "chosen": json.dumps(dict(chosen)),
        "thinking": [
            _row(each, chosen.get(each.name))
            for each in supported
            if each.kind == LEVEL or (each.kind == SWITCH and switches)
        ],
        "numbers": [_row(each, chosen.get(each.name)) for each in numbers],
    }


def can_switch_thinking(model: LlmModel) -> bool:
    """Return True if the model thinks unless it is told not to."""
    return any(each.name == THINKING for each in supported_parameters(model))


def fit(model: LlmModel, chosen: Mapping[str, Value]) -> dict[str, Value]:
    """Return what the model takes of the chosen values, each as near as its range allows."""
    takes = {parameter.name: parameter for parameter in supported_parameters(model)}
    return {name: takes[name].clamp(value) for name, value in chosen.items() if name in takes}


def _row(parameter: Parameter, chosen: Value | None) -> dict[str, Any]:
    """Return the context of one control; `value` is a form's text, "" where the model's default applies."""
    label, about = PARAMETER_LABELS[parameter.name]
    value = None if chosen is None else parameter.clamp(chosen)
    row = {"name": parameter.name, "label": label, "about": about, "value": _written(value)}
    if parameter.kind in (SWITCH, LEVEL):
        values: tuple[Value, ...] = (True, False) if parameter.kind == SWITCH else parameter.levels
        options = [(_written(each), VALUE_NAMES[each]) for each in values]
        return row | {"options": options, "default": VALUE_NAMES.get(parameter.default)}
    default = parameter.default
    assert not isinstance(default, str)
    least, most = _form_range(parameter)
    return row | {
        # The form's range is widened for a value beyond it that was set by a call.
        "min": str(least if value is None else min(least, float(value))),
        "max": str(most if value is None else max(most, float(value))),
        "accepts": json.dumps([parameter.minimum, parameter.maximum]),
        "step": str(parameter.step),
        "whole": parameter.step == 1,
        "least": grouped_number(least),
        "most": grouped_number(most),
        "default": "" if default is None else grouped_number(default),
        "slider": _slider(default, value) if parameter.name == "temperature" else None,
    }


def _form_range(parameter: Parameter) -> tuple[float, float]:
    least, most = FORM_RANGES.get(parameter.name, (parameter.minimum, parameter.maximum))
    return max(least, parameter.minimum), min(most, parameter.maximum)


def _slider(default: float | None, value: Value | None) -> dict[str, Any]:
    """Return the context of a slider; it stands at 1 if neither a choice nor a default is known."""
    start = next((each for each in (value, default) if each is not None), 1)
    return {"start": str(start), "rest": str(1 if default is None else default), "marks": TEMPERATURE_MARKS}


def _written(value: Value | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
