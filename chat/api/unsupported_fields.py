"""Documented fields that would change the reply but are not supported here: rejected by name.

A client that sends one expects its effect, so it is never ignored silently. A value without an effect is
accepted, because clients send such defaults explicitly.
"""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import BadRequest

from .field_checks import Object

# Values without an effect, which are accepted; null always is.
NEUTRAL_VALUES: dict[str, tuple[Any, ...]] = {
    "audio": (),
    "function_call": ("auto", "none"),
    "functions": ([],),
    "guided_json": (),
    "image": (),
    "logprobs": (False,),
    "modalities": (["text"],),
    "requests": (),
    "top_logprobs": (0,),
    "verbosity": ("medium",),
    "web_search_options": (),
}
INSTEAD = {
    "function_call": gettext_noop("Use “tool_choice”."),
    "functions": gettext_noop("Use “tools”."),
    "guided_json": gettext_noop("Use “response_format”."),
}
# Documented fields without an effect on the reply: a server may log, store or bill the call differently.
HINTS = (
    "metadata",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "user",
)


def refuse_unsupported(sent: Object) -> None:
    """Raise BadRequest if an unsupported field has a value with an effect."""
    for name, neutral in NEUTRAL_VALUES.items():
        if sent.get(name) is not None and sent[name] not in neutral:
            raise BadRequest(_refusal(name))
    options = sent.get("stream_options")
    if isinstance(options, dict) and options.get("include_obfuscation"):
        raise BadRequest(_refusal("stream_options.include_obfuscation"))


def _refusal(name: str) -> str:
    refused = _("“%(name)s” is not supported.") % {"name": name}
    return f"{refused} {_(INSTEAD[name])}" if name in INSTEAD else refused
