"""The models that can answer. The bundled list is of Workers AI's text models alive in November 2026."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from .provider import Provider

DEFAULT_MODEL = "@cf/zai-org/glm-4.7-flash"
MAX_ID_CHARS = 150  # characters
# What may stand in an address: three names, none of which leads out of it.
ID = re.compile(r"@(cf|hf)/[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
ROUTES, AUTO_ROUTER = "dynamic/", "cloudflare/auto"  # names of models that an AI Gateway itself knows
NOT_FOR_CHAT = {"@cf/meta/llama-guard-3-8b", "@cf/defog/sqlcoder-7b-2"}  # a classifier; a writer of SQL


class UnknownModel(LookupError):
    """No such model here; only ids of the catalogue ever reach an address."""


@dataclass(frozen=True, slots=True)
class LlmModel:
    """`window` and `max_output` in tokens, prices in dollars a million tokens.

    `inline_reasoning`: it thinks inside its text and ends that with `</think>`. `lora`: finetunes of it can
    be used. `paid`: it needs the plan Workers Paid. `retires`: the day from which it is gone. `efforts`: the
    levels of reasoning that it takes. A finetune has the id of its `base` and its own, `finetune`, and is
    called `adapter_name` in the account. `host` serves it, if it is not `local`.
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
    price_cached: float | None = None
    local: bool = False
    lora: bool = False
    beta: bool = False
    paid: bool = False
    retires: date | None = None
    efforts: tuple[str, ...] = ()
    base: str = ""
    finetune: str = ""
    adapter_name: str = ""
    host: Provider = Provider.WORKERS_AI

    @property
    def address(self) -> str:
        """What stands in the address of a call: a finetune is asked of its base."""
        return self.base or self.id

    @property
    def is_route(self) -> bool:
        """Whether the gateway chooses who answers: a dynamic route, or the Auto Router."""
        return self.host is Provider.GATEWAY and (self.id.startswith(ROUTES) or self.id == AUTO_ROUTER)

    @property
    def counts_against_quota(self) -> bool:
        """Whether the account's limits count it: of requests a minute, and of what a day is free."""
        return not self.local and self.host is Provider.WORKERS_AI

    @property
    def lora_parameters(self) -> dict[str, str]:
        """What a call says beside that."""
        return {"lora": self.finetune} if self.finetune else {}


FIELDS = {field.name for field in fields(LlmModel)}


@dataclass(frozen=True, slots=True)
class RetiredModel:
    """A model that is gone, and the one that takes its place."""

    id: str
    name: str
    replacement: str


class Catalogue:
    """The models of this site, in the order they are offered. Never changed: another one takes its place.

    `groups` says who alone may use a model, by its id; one that is not there is everybody's. The default is.
    `known` are models that are not offered, but wrote something before.
    """

    def __init__(
        self,
        models: Iterable[LlmModel],
        default: str,
        *,
        groups: Mapping[str, frozenset[int]] | None = None,
        retired: Iterable[RetiredModel] = (),
        known: Iterable[LlmModel] = (),
    ) -> None:
        self._models = {model.id: model for model in models}
        self._groups = groups or {}
        self._retired = {each.id: each for each in retired}
        self._known = {model.id: model for model in known} | self._models
        self.default = self.get(default)

    def get(self, name: str) -> LlmModel:
        """Raises UnknownModel."""
        try:
            return self._models[name]
        except KeyError:
            raise UnknownModel(name) from None

    def resolve(self, name: str) -> LlmModel:
        """The one place that says what answers to a name, for the chat and the API: the model of that name,
        or of a retired one the model that took its place. Raises UnknownModel."""
        retired = self.retired(name)
        return self.successor(retired) if retired else self.get(name)

    def resolve_or_default(self, name: str) -> LlmModel:
        """The same, or the default where there is none."""
        try:
            return self.resolve(name)
        except UnknownModel:
            return self.default

    def retired(self, name: str) -> RetiredModel | None:
        """What is known of a model that is no longer there; None of one that is, or that never was."""
        return None if name in self._models else self._retired.get(name)

    def successor(self, retired: RetiredModel) -> LlmModel:
        """Its replacement, or the replacement's, and so on; where none of them is offered, the default."""
        seen = set()
        each: RetiredModel | None = retired
        while each and each.id not in seen:
            seen.add(each.id)
            if each.replacement in self._models:
                return self._models[each.replacement]
            each = self._retired.get(each.replacement)
        return self.default

    def name_of(self, id_: str) -> str:
        """What people call it, also one that is offered no longer; of an unknown one its id."""
        if id_ in self._known:
            return self._known[id_].name
        return self._retired[id_].name if id_ in self._retired else id_

    def get_known(self, id_: str) -> LlmModel | None:
        """What is known of a model, also of one that is hidden or gone: what it cost then."""
        return self._known.get(id_)

    def for_groups(self, groups: Callable[[], Collection[int]]) -> "Catalogue":
        """What somebody in these groups may use. They are asked for only where a model is for some alone."""
        if not self._groups:
            return self
        mine = frozenset(groups())
        return Catalogue(
            (each for each in self if each.id not in self._groups or self._groups[each.id] & mine),
            self.default.id,
            retired=self._retired.values(),
            known=self._known.values(),
        )

    def is_restricted(self, model: LlmModel) -> bool:
        """Whether only some may use it."""
        return model.id in self._groups

    def __iter__(self) -> Iterator[LlmModel]:
        return iter(self._models.values())

    def __len__(self) -> int:
        return len(self._models)


@cache
def bundled() -> tuple[LlmModel, ...]:
    return tuple(from_record(record) for record in _records("catalogue.json"))


@cache
def retired() -> tuple[RetiredModel, ...]:
    """Workers AI's text models that ended in 2025 and 2026, each with what comes nearest to it today.

    Without `llamaguard-7b-awq`: no chat model takes the place of a classifier.
    """
    return tuple(RetiredModel(**record) for record in _records("retired.json"))


def from_record(record: dict[str, Any]) -> LlmModel:
    """A model as JSON has it; what a later version wrote there is left out."""
    given = {name: value for name, value in record.items() if name in FIELDS}
    retires = given.get("retires")
    given["retires"] = date.fromisoformat(retires) if retires else None
    given["efforts"] = tuple(given.get("efforts", ()))
    given["host"] = Provider(given.get("host", Provider.WORKERS_AI))
    return LlmModel(**given)


def to_record(model: LlmModel) -> dict[str, Any]:
    """What `model_from` makes the same model of."""
    retires = model.retires and model.retires.isoformat()
    return asdict(model) | {"retires": retires, "efforts": list(model.efforts)}


def merge_bundled(declared: LlmModel) -> LlmModel:
    """What is declared of a model, with what is known better here.

    Windows are declared larger than the service takes, and prices are rounded: 0.29 is 0.293.
    """
    known = next((model for model in bundled() if model.id == declared.id), None)
    if known is None:
        return declared
    return replace(
        declared,
        name=known.name,
        window=min(declared.window, known.window),
        max_output=declared.max_output or known.max_output,
        price_in=_exact(declared.price_in, known.price_in),
        price_out=_exact(declared.price_out, known.price_out),
        price_cached=_exact(declared.price_cached, known.price_cached),
        efforts=declared.efforts or known.efforts,
        **{name: getattr(declared, name) or getattr(known, name) for name in CAPABILITIES},
    )


CAPABILITIES = ("reasoning", "inline_reasoning", "vision", "tools", "lora", "beta", "paid")


def _exact(declared: float | None, known: float | None) -> float | None:
    if declared is None or known is None:
        return known if declared is None else declared
    return known if round(known, 2) == round(declared, 2) else declared


def _records(file: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(Path(__file__).with_name(file).read_text())
    return records
