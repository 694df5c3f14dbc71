"""The catalog of models. The bundled list has Workers AI's text models available in November 2026."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

DEFAULT_MODEL = "@cf/zai-org/glm-4.7-flash"
MAX_MODEL_ID_CHARS = 150
# The ids that may become part of a URL: three path segments, none of which is ".." or contains a slash.
CLOUDFLARE_MODEL_ID = re.compile(r"@(cf|hf)/[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
ROUTES, AUTO_ROUTER = "dynamic/", "cloudflare/auto"  # id prefix and id that an AI Gateway itself resolves
# Classifiers and decision models, an SQL generator, and one that only describes pictures.
NOT_FOR_CHAT = {
    "@cf/cloudflare/clef",
    "@cf/cloudflare/clef-flash",
    "@cf/defog/sqlcoder-7b-2",
    "@cf/meta/llama-guard-3-8b",
    "@cf/moondream/moondream3.1-9B-A2B",
}
CAPABILITIES = ("reasoning", "inline_reasoning", "vision", "tools", "lora", "beta", "paid")


class Provider(StrEnum):
    """A kind of provider.

    `GATEWAY`: a third-party provider behind an AI Gateway of the account. `ENDPOINT`: the operator's own
    server, which speaks OpenAI's API. `AI_SEARCH`: an instance of AI Search of the account, which answers
    from the documents that it has indexed.
    """

    WORKERS_AI = "workers-ai"
    GATEWAY = "gateway"
    ENDPOINT = "endpoint"
    AI_SEARCH = "ai-search"


class UnknownModel(LookupError):
    """The catalog has no model of this id. Only ids in the catalog are ever put into a URL."""


@dataclass(frozen=True, slots=True)
class LlmModel:
    """A text model: `window` and `max_output` in tokens, prices in dollars per million tokens.

    `inline_reasoning`: the reasoning is part of the text and ends with `</think>`. `lora`: the model accepts
    LoRA finetunes. `paid`: the model needs the Workers Paid plan. `retires`: the first day on which the model
    is no longer available. `efforts`: the supported levels of reasoning. A finetune has its base model's id
    in `base`, its own id in `finetune`, and its name in the account in `adapter_name`. `host` is the provider
    that serves the model, unless it is `local`.
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
        """The model id for the request URL: a finetune is requested through its base model."""
        return self.base or self.id

    @property
    def is_route(self) -> bool:
        """True for a dynamic route and the Auto Router, for which the AI Gateway chooses the model."""
        return self.host is Provider.GATEWAY and (self.id.startswith(ROUTES) or self.id == AUTO_ROUTER)

    @property
    def takes_all(self) -> bool:
        """True if its server has OpenAI's API, and so gets the fields and parts that are not known here."""
        return not self.local and self.host in (Provider.ENDPOINT, Provider.GATEWAY)

    @property
    def takes_max_tokens(self) -> bool:
        """True unless it is an instance of AI Search, whose requests take no parameters of a model."""
        return self.host is not Provider.AI_SEARCH

    @property
    def counts_against_quota(self) -> bool:
        """True if the account's limits apply: requests per minute and the free daily allowance."""
        return not self.local and self.host is Provider.WORKERS_AI

    @property
    def lora_parameters(self) -> dict[str, str]:
        """The request body's fields that select the LoRA adapter; empty if the model is no finetune."""
        return {"lora": self.finetune} if self.finetune else {}


MODEL_FIELDS = {field.name for field in fields(LlmModel)}


@dataclass(frozen=True, slots=True)
class RetiredModel:
    """A model that is no longer available; `replacement` is the id of its successor."""

    id: str
    name: str
    replacement: str


@dataclass(frozen=True, slots=True)
class Door:
    """A name for a model: see `doors`. `kind` is "" for one of the site's own, which has a name.

    A `name` or an `about`, the sentence below it, of "" is that of its kind.
    """

    kind: str
    model: str
    name: str = ""
    about: str = ""


class Catalog:
    """The models of this site, in the order in which they are offered. Immutable: a change makes a new one.

    `groups` maps the id of a restricted model to the ids of the groups that may use it; a model without an
    entry is open to everybody, as the default model always is. `known` are models that are not offered now,
    but may have written earlier replies. A retired model that is in `models` counts as offered.

    - `get(name)`: an offered model
    - `resolve(name)`: an offered model, or the successor of a retired one
    - `resolve_or_default(name)`: the same, or the default model
    - `get_known(name)`: an offered or known model, for its description and prices
    """

    def __init__(
        self,
        models: Iterable[LlmModel],
        default: str,
        *,
        groups: Mapping[str, frozenset[int]] | None = None,
        retired: Iterable[RetiredModel] = (),
        known: Iterable[LlmModel] = (),
        doors: Sequence[Door] = (),
    ) -> None:
        self._models = {model.id: model for model in models}
        self._groups = groups or {}
        self._retired = {each.id: each for each in retired}
        self._known = {model.id: model for model in known} | self._models
        self.default = self.get(default)
        self.doors = tuple(doors)

    def get(self, name: str) -> LlmModel:
        """Return the offered model of this id. Raises UnknownModel."""
        try:
            return self._models[name]
        except KeyError:
            raise UnknownModel(name) from None

    def resolve(self, name: str) -> LlmModel:
        """Return the model that answers requests for `name`, for the chat and the API alike.

        That is the model of this id or, for a retired one, its successor. Raises UnknownModel.
        """
        retired = self.retired(name)
        return self.successor(retired) if retired else self.get(name)

    def resolve_or_default(self, name: str) -> LlmModel:
        """Return `resolve(name)`, or the default model if the name is unknown."""
        try:
            return self.resolve(name)
        except UnknownModel:
            return self.default

    def retired(self, name: str) -> RetiredModel | None:
        """Return the record of a retired model; None if the model is offered or never existed."""
        return None if name in self._models else self._retired.get(name)

    def successor(self, retired: RetiredModel) -> LlmModel:
        """Return the first offered model in the chain of replacements, or the default model."""
        seen = set()
        each: RetiredModel | None = retired
        while each and each.id not in seen:
            seen.add(each.id)
            if each.replacement in self._models:
                return self._models[each.replacement]
            each = self._retired.get(each.replacement)
        return self.default

    def name_of(self, id_: str) -> str:
        """Return the display name, also of a model no longer offered; for an unknown model its id."""
        if id_ in self._known:
            return self._known[id_].name
        return self._retired[id_].name if id_ in self._retired else id_

    def get_known(self, id_: str) -> LlmModel | None:
        """Return a model, even a hidden or former one with the prices it had; None if it is unknown."""
        return self._known.get(id_)

    def for_groups(self, groups: Callable[[], Collection[int]]) -> "Catalog":
        """Return the catalog for a user in these groups, given by id.

        `groups` is called only if any model is restricted, because it may cost a query.
        """
        if not self._groups:
            return self
        mine = frozenset(groups())
        return Catalog(
            (each for each in self if each.id not in self._groups or self._groups[each.id] & mine),
            self.default.id,
            retired=self._retired.values(),
            known=self._known.values(),
            doors=self.doors,
        )

    def is_restricted(self, model: LlmModel) -> bool:
        """Return True if only members of certain groups may use the model."""
        return model.id in self._groups

    def __iter__(self) -> Iterator[LlmModel]:
        return iter(self._models.values())

    def __len__(self) -> int:
        return len(self._models)


@cache
def bundled() -> tuple[LlmModel, ...]:
    return tuple(from_record(record) for record in records("catalog.json"))


@cache
def retired() -> tuple[RetiredModel, ...]:
    """Return Workers AI's text models that were retired in 2025 and 2026, each with its closest successor.

    Without `llamaguard-7b-awq`, because no chat model replaces a classifier.
    """
    return tuple(RetiredModel(**record) for record in records("retired.json"))


def from_record(record: dict[str, Any]) -> LlmModel:
    """Build a model from a JSON record; fields that a later version of this software added are ignored."""
    given = {name: value for name, value in record.items() if name in MODEL_FIELDS}
    retires = given.get("retires")
    given["retires"] = date.fromisoformat(retires) if retires else None
    given["efforts"] = tuple(given.get("efforts", ()))
    given["host"] = Provider(given.get("host", Provider.WORKERS_AI))
    return LlmModel(**given)


def to_record(model: LlmModel) -> dict[str, Any]:
    """Return the JSON record of a model, from which `from_record` builds the same model."""
    retires = model.retires and model.retires.isoformat()
    return asdict(model) | {"retires": retires, "efforts": list(model.efforts)}


def merge_bundled(declared: LlmModel) -> LlmModel:
    """Return the model as Cloudflare declares it, corrected by the bundled description.

    Declared windows are larger than the service accepts, and declared prices are rounded: 0.29 is 0.293.
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


def _exact(declared: float | None, known: float | None) -> float | None:
    if declared is None or known is None:
        return known if declared is None else declared
    return known if round(known, 2) == round(declared, 2) else declared


def records(file: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(Path(__file__).with_name(file).read_text())
    return records
