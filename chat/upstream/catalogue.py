"""The models that can answer. The bundled list is of Workers AI's text models alive in November 2026."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DEFAULT = "@cf/zai-org/glm-4.7-flash"


class UnknownModel(LookupError):
    """No such model here; only ids of the catalogue ever reach an address."""


@dataclass(frozen=True, slots=True)
class Model:
    """`window` and `max_output` in tokens, prices in dollars a million tokens.

    `inline_reasoning`: it thinks inside its text and ends that with `</think>`.
    """

    id: str
    name: str
    window: int
    max_output: int | None = None
    reasoning: bool = False
    inline_reasoning: bool = False
    vision: bool = False
    tools: bool = False
    price_in: float | None = None
    price_out: float | None = None
    local: bool = False


class Catalogue:
    """The models of this site, in the order they are offered."""

    def __init__(self, models: Iterable[Model], default: str) -> None:
        self._models = {model.id: model for model in models}
        self.default = self.get(default)

    def get(self, name: str) -> Model:
        """Raises UnknownModel."""
        try:
            return self._models[name]
        except KeyError:
            raise UnknownModel(name) from None

    def __iter__(self) -> Iterator[Model]:
        return iter(self._models.values())


@cache
def bundled() -> tuple[Model, ...]:
    records = json.loads(Path(__file__).with_name("catalogue.json").read_text())
    return tuple(Model(**record) for record in records)
