"""Fields of a call that are not checked here, by the server of the model.

A server of OpenAI's API gets them as they are: its client means that server. Every other model supports
what `bodies.py` lists. A field that would have no effect is refused by name, unless its value has none
either, since clients send such defaults explicitly.
"""

from collections.abc import Collection
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import PASSED_FIELDS

from .refusals import MAX_QUOTED_CHARS, NOT_SUPPORTED, Object, invalid, unsupported

# Refused for each model: what they ask for has no place in the replies of this API. Then the values without
# an effect, which are accepted; null always is.
NEVER: dict[str, tuple[Any, ...]] = {
    "audio": (),
    "function_call": ("auto", "none"),
    "functions": ([],),
    "image": (),
    "logprobs": (False,),
    "modalities": (["text"],),
    "requests": (),
    "top_logprobs": (0,),
}
# Refused for each model, because they choose another model, server, key or template than the site's.
STEERING = {
    "api_base", "api_key", "api_version", "base_url", "chat_template", "context_window_fallbacks",
    "custom_llm_provider", "deployment_id", "engine", "extra_body", "extra_headers", "fallbacks", "headers",
    "kv_transfer_params", "litellm_params", "mock_response", "models", "organization", "plugins", "provider",
    "route",
}  # fmt: skip
# Values without an effect, of fields that other servers than those of OpenAI's API do not support.
NEUTRAL_VALUES: dict[str, tuple[Any, ...]] = {
    "add_generation_prompt": (True,),
    "best_of": (1,),
    "echo": (False,),
    "ignore_eos": (False,),
    "length_penalty": (1,),
    "min_p": (0,),
    "min_tokens": (0,),
    "repeat_penalty": (1,),
    "service_tier": ("auto", "default"),
    "skip_special_tokens": (True,),
    "spaces_between_special_tokens": (True,),
    "suffix": ("",),
    "top_a": (0,),
    "typical_p": (1,),
    "use_beam_search": (False,),
    "verbosity": ("medium",),
}
# Documented fields without an effect on the reply: a server may log, store or bill the call differently.
HINTS = {
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "store",
    "user",
}
# llama.cpp's own, beside those that `bodies.py` lists.
LOCAL_FIELDS = {"min_p", "repeat_last_n", "repeat_penalty", "top_n_sigma", "typical_p"}
EFFORT_INSTEAD = gettext_noop("Use “reasoning_effort” or “chat_template_kwargs”.")
FORMAT_INSTEAD = gettext_noop("Use “response_format”.")
INSTEAD = {
    "enable_thinking": EFFORT_INSTEAD,
    "function_call": gettext_noop("Use “tool_choice”."),
    "functions": gettext_noop("Use “tools”."),
    "guided_choice": FORMAT_INSTEAD,
    "guided_grammar": FORMAT_INSTEAD,
    "guided_json": FORMAT_INSTEAD,
    "guided_regex": FORMAT_INSTEAD,
    "max_output_tokens": gettext_noop("Use “max_tokens”."),
    "reasoning": EFFORT_INSTEAD,
    "repeat_penalty": gettext_noop("Use “repetition_penalty”."),
    "structured_outputs": FORMAT_INSTEAD,
    "thinking": EFFORT_INSTEAD,
}
NO_EFFECT: tuple[Any, ...] = ([], {})  # of any field


# Fields of earlier replies, of pages' messages and of caches, which clients send back in messages and parts
# though no model reads them.
REPLAYED_FIELDS = {
    "annotations", "citations", "created", "createdAt", "created_at", "finish_reason", "id", "index",
    "logprobs", "metadata", "model", "object", "parsed", "phase", "provider_specific_fields",
    "search_results", "status", "stop_reason", "thinking", "timestamp", "token_ids", "type", "usage",
}  # fmt: skip
# Those of `PASSED_FIELDS` that other servers lose without harm: they do not change what is asked for.
MESSAGE_HINTS = PASSED_FIELDS - {"prefix", "partial"}


def passed_on(sent: Object, model: LlmModel) -> Object:
    """Return the fields that the server of the model gets, of those that `bodies.py` does not list.

    `sent` has no null. Raises InvalidField for a field that would be lost.
    """
    passed = {}
    for name, value in sent.items():
        neutral = NEVER.get(name)
        if neutral is not None and value in neutral:
            continue
        if neutral is not None or name in STEERING:
            raise unsupported(name, _(INSTEAD[name]) if name in INSTEAD else "")
        if model.takes_all or (model.local and name in LOCAL_FIELDS):
            passed[name] = value
        elif name not in HINTS and value not in NEUTRAL_VALUES.get(name, NO_EFFECT):
            raise _refusal(name)
    return passed


def unknown_fields(sent: Object, read: Collection[str], where: str, *, takes_all: bool) -> Object:
    """Return the fields of a message, a part or an object in it that its server gets: those not in `read`.

    Raises InvalidField for one that would be lost, because the server does not take all fields.
    """
    unknown = {
        name: value
        for name, value in sent.items()
        if name not in read and name not in REPLAYED_FIELDS and value is not None
    }
    if takes_all or not unknown:
        return unknown
    if lost := next((name for name, value in unknown.items() if value and name not in MESSAGE_HINTS), None):
        raise invalid(NOT_SUPPORTED, f"{where}.{lost[:MAX_QUOTED_CHARS]}", "unknown_parameter")
    return {}


def _refusal(name: str) -> Exception:
    if name in INSTEAD or name in NEUTRAL_VALUES:
        return unsupported(name, _(INSTEAD[name]) if name in INSTEAD else "")
    return invalid(NOT_SUPPORTED, name[:MAX_QUOTED_CHARS], "unknown_parameter")
