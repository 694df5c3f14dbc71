"""Checks of a request against the capabilities of its model."""

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.upstream import parameters
from chat.upstream.catalogue import LlmModel
from chat.upstream.provider import Provider

from .field_checks import Object
from .request_body import REJECT_IF_BUSY, CompletionParams


def check_capabilities(asked: CompletionParams, model: LlmModel) -> None:
    """Raises BadRequest when the model does not support `raw` or `options`."""
    if asked.raw and not _takes_raw(model):
        raise _unsupported("raw")
    if "options" in asked.parameters and not model.counts_against_quota:
        raise _unsupported(f"options.{REJECT_IF_BUSY}")


def without_unread_reasoning(messages: list[Object], model: LlmModel) -> list[Object]:
    """Return the messages without earlier reasoning, unless the model reads it.

    Workers AI's reasoning models accept it as `reasoning`. Other servers may reject an unknown field, and
    models that reason inside their text are trained without it.
    """
    if model.reasoning and model.host is Provider.WORKERS_AI and not model.local:
        return messages
    return [{name: value for name, value in each.items() if name != "reasoning"} for each in messages]


def _takes_raw(model: LlmModel) -> bool:
    """Return whether the model's schema has `prompt`.

    The classic text models of Workers AI have it, recognised by `top_k`. Models without known parameters may.
    """
    known = parameters.MODELS.get(model.address, parameters.CAUTIOUS_PARAMETERS)
    return model.counts_against_quota and (
        known is parameters.CAUTIOUS_PARAMETERS or any(each.name == "top_k" for each in known)
    )


def _unsupported(name: str) -> BadRequest:
    return BadRequest(_("“%(name)s” is not supported by this model.") % {"name": name})
