"""Retries offered for a reply whose tokens were used up by thinking: more tokens, or less thinking."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from chat.formats import grouped_number
from chat.upstream.catalogue import LlmModel
from chat.upstream.parameters import Value, supported_parameters

MORE = 2  # factor on the max_tokens of the last attempt


def offers(model: LlmModel, chosen: Mapping[str, Value], had: int) -> list[dict[str, Any]]:
    """Return the retries as form buttons, each of which changes one parameter. `had`: the last max_tokens."""
    takes = {parameter.name: parameter for parameter in supported_parameters(model)}
    found = []
    more = min(had * MORE, int(takes["max_tokens"].maximum))
    if more > had:
        words = _("Try again with %(tokens)s tokens") % {"tokens": grouped_number(more)}
        found.append(_offer("max_tokens", more, str(more), words))
    thinks = chosen.get("thinking", True)
    if thinks and (effort := takes.get("effort")):
        least, now = effort.levels[0], chosen.get("effort", effort.default)
        if now is not None and effort.clamp(now) != least:
            found.append(_offer("effort", least, least, _("Try again with less thinking")))
    if thinks and "thinking" in takes:
        found.append(_offer("thinking", False, "off", _("Try again without thinking")))
    return found


def _offer(name: str, value: Value, written: str, words: str) -> dict[str, Any]:
    """Return the context of a button: `value` for a form, `parameters` as JSON for the page's script."""
    return {"name": name, "value": written, "parameters": json.dumps({name: value}), "words": words}
