"""Documented fields that would change the reply, and that this API does not have: refused by name.

Whoever sends one expects its effect, so it is never dropped in silence. A value that asks for nothing beyond
the usual is taken: clients write such defaults out.
"""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.exceptions import BadRequest

from .field_checks import Object

# Each with the values that ask for nothing; null always does.
NEUTRAL: dict[str, tuple[Any, ...]] = {
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
# Documented fields without an effect on the reply: what a server may log, store or bill differently.
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
    """Raises BadRequest."""
    for name, neutral in NEUTRAL.items():
        if sent.get(name) is not None and sent[name] not in neutral:
            raise BadRequest(_refusal(name))
    options = sent.get("stream_options")
    if isinstance(options, dict) and options.get("include_obfuscation"):
        raise BadRequest(_refusal("stream_options.include_obfuscation"))


def _refusal(name: str) -> str:
    refused = _("“%(name)s” is not supported.") % {"name": name}
    return f"{refused} {_(INSTEAD[name])}" if name in INSTEAD else refused
