"""What a call asks for, held against the model that it asks."""

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.upstream import parameters
from chat.upstream.catalogue import LlmModel
from chat.upstream.provider import Provider

from .field_checks import Object
from .request_body import REJECT_IF_BUSY, CompletionParams


def check_capabilities(asked: CompletionParams, model: LlmModel) -> None:
    """Raises BadRequest."""
    if asked.raw and not _takes_raw(model):
        raise _unsupported("raw")
    if "options" in asked.parameters and not model.counts_against_quota:
        raise _unsupported(f"options.{REJECT_IF_BUSY}")


def without_unread_reasoning(messages: list[Object], model: LlmModel) -> list[Object]:
    """Without the earlier reasoning, unless this model reads it.

    Workers AI's models that reason take it as `reasoning`; other servers may refuse a field that they do not
    know, and models that reason inside their text are trained without it.
    """
    if model.reasoning and model.host is Provider.WORKERS_AI and not model.local:
        return messages
    return [{name: value for name, value in each.items() if name != "reasoning"} for each in messages]


def _takes_raw(model: LlmModel) -> bool:
    """Whether its schema has `prompt`: the classic text models of Workers AI, which also take `top_k`."""
    known = parameters.MODELS.get(model.address, parameters.CAUTIOUS_PARAMETERS)
    return model.counts_against_quota and (
        known is parameters.CAUTIOUS_PARAMETERS or any(each.name == "top_k" for each in known)
    )


def _unsupported(name: str) -> BadRequest:
    return BadRequest(_("“%(name)s” is not supported by this model.") % {"name": name})
