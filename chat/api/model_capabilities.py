"""What a call asks for, held against the model that it asks."""

from django.utils.translation import gettext as _

from chat.exceptions import Malformed
from chat.upstream import parameters
from chat.upstream.catalogue import Model
from chat.upstream.provider import Host

from .field_checks import Object
from .request_body import REJECT_IF_BUSY, Wanted


def refuse_unfit(asked: Wanted, model: Model) -> None:
    """Raises Malformed."""
    if asked.raw and not _takes_raw(model):
        raise _unsupported("raw")
    if "options" in asked.parameters and not model.metered:
        raise _unsupported(f"options.{REJECT_IF_BUSY}")


def readable(messages: list[Object], model: Model) -> list[Object]:
    """Without the earlier reasoning, unless this model reads it.

    Workers AI's models that reason take it as `reasoning`; other servers may refuse a field that they do not
    know, and models that reason inside their text are trained without it.
    """
    if model.reasoning and model.host is Host.WORKERS_AI and not model.local:
        return messages
    return [{name: value for name, value in each.items() if name != "reasoning"} for each in messages]


def _takes_raw(model: Model) -> bool:
    """Whether its schema has `prompt`: the classic text models of Workers AI, which also take `top_k`."""
    known = parameters.MODELS.get(model.address, parameters.CAUTIOUS)
    return model.metered and (known is parameters.CAUTIOUS or any(each.name == "top_k" for each in known))


def _unsupported(name: str) -> Malformed:
    return Malformed(_("“%(name)s” is not supported by this model.") % {"name": name})
