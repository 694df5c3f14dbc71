"""Checks of a request against the capabilities of its model."""

from typing import Any

from django.utils.translation import gettext as _

from chat.upstream import parameters
from chat.upstream.catalog import LlmModel

from .refusals import InvalidField
from .request_body import REJECT_IF_BUSY, CompletionParams

# Fields that are done here for models whose schema does not name them.
DONE_HERE = {"stop", "parallel_tool_calls"}
# Values without an effect, which clients send as defaults. The same is true of NO_REASONING, for a model that
# does not reason.
NEUTRAL_BY_MODEL: dict[str, tuple[Any, ...]] = {
    "reasoning_effort": ("medium",),
    "repetition_penalty": (1,),
    "response_format": ({"type": "text"},),
}
NO_REASONING: dict[str, tuple[Any, ...]] = {
    "reasoning_effort": ("none",),
    "chat_template_kwargs": ({"enable_thinking": False},),
}


def check_capabilities(params: CompletionParams, model: LlmModel) -> None:
    """Raise InvalidField if the model does not support a field. A value without an effect is accepted."""
    if params.raw and not _takes_raw(model):
        raise _unsupported("raw")
    if params.max_tokens is not None and not model.takes_max_tokens:
        raise _unsupported("max_tokens")
    for name, value in params.parameters.items():
        if parameters.declares(model, name) is False and not _is_harmless(model, name, value):
            raise _unsupported(name)
    if "options" in params.parameters and not model.counts_against_quota:
        raise _unsupported(f"options.{REJECT_IF_BUSY}")


def needs_tool_call_ids(model: LlmModel) -> bool:
    """Return True for Mistral's models. Other models of Workers AI take a tool's result without it."""
    return "/mistral" in model.address


def _is_harmless(model: LlmModel, name: str, value: Any) -> bool:
    neutral = NEUTRAL_BY_MODEL.get(name, ()) + (() if model.reasoning else NO_REASONING.get(name, ()))
    return name in DONE_HERE or value in neutral


def _takes_raw(model: LlmModel) -> bool:
    """Return True if the model's schema has `prompt`: that of classic models, and perhaps an unknown one."""
    return model.counts_against_quota and parameters.is_classic(model) is not False


def _unsupported(name: str) -> InvalidField:
    words = _("This model doesn’t support “%(name)s”.") % {"name": name}
    return InvalidField(words, name, "unsupported_parameter")
