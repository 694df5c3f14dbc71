"""The cost of used tokens, at the prices of the catalog."""

from collections.abc import Iterable
from functools import cache

from chat.upstream.catalog import LlmModel, bundled

from .catalog import current

LOCAL_ID_PREFIX = "local/"  # the ids of models that run on the site's own machine begin with it


def dollars(used: Iterable[tuple[str, int, int]]) -> float | None:
    """Return the cost of (model, tokens in, tokens out); None if the price of a model used is unknown.

    Local models cost nothing, also former ones.
    """
    total = 0.0
    for name, prompt_tokens, completion_tokens in used:
        if name.startswith(LOCAL_ID_PREFIX):
            continue
        model = _known(name)
        if model is None or model.price_in is None or model.price_out is None:
            if prompt_tokens or completion_tokens:
                return None
            continue
        total += (prompt_tokens * model.price_in + completion_tokens * model.price_out) / 1_000_000
    return total


def model_name(key: str) -> str:
    """Return the model's display name; the id of an unknown model."""
    model = _known(key)
    return model.name if model else current.get().name_of(key)


def _known(key: str) -> LlmModel | None:
    """Return the model from the catalog, else from this software's own list, else None."""
    return current.get().get_known(key) or _bundled_by_id().get(key)


@cache
def _bundled_by_id() -> dict[str, LlmModel]:
    return {model.id: model for model in bundled()}
