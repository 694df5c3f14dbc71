"""Doors: a few of the site's models, each under a name that says what it is for.

A door is only a name. What is requested, stored and logged is the id of its model.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from .catalog import Catalog, Door, LlmModel, Provider

MAX_DOORS = 6
MIN_DOORS = 2  # a single one offers no choice
EVERYDAY, CAREFUL, PICTURES, CODE = "everyday", "careful", "pictures", "code"
KINDS = (EVERYDAY, CAREFUL, PICTURES, CODE)  # those that choose a model by themselves
# A question and its reply, as multiples of a token of output: the question is longer, with what precedes it.
INPUT_SHARE = 4
LARGE_BILLIONS = 60.0  # billions of parameters: what a careful model has at least
BILLIONS = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)b(?![a-z0-9])", re.I)  # 120b in gpt-oss-120b
FINETUNE_BASE = re.compile(r"@cf/.+-lora")


def open_doors(offered: Catalog) -> list[Door]:
    """Return the doors that lead to an offered model, the first for each model; none if they are too few."""
    ids = {model.id for model in offered}
    found: dict[str, Door] = {}
    for door in offered.doors:
        if door.model in ids:
            found.setdefault(door.model, door)
    return list(found.values()) if len(found) >= MIN_DOORS else []


def for_pictures(offered: Catalog) -> LlmModel | None:
    """Return the model that answers a question with pictures in place of one that cannot see.

    It is that of the door for pictures, else the cheapest one that sees; None if no offered model does.
    """
    seeing = {model.id: model for model in offered if model.vision}
    chosen = next((door.model for door in offered.doors if door.kind == PICTURES), "")
    return seeing.get(chosen) or _cheapest(seeing.values())


def size(model: LlmModel) -> float:
    """Return the billions of parameters that the model's id names; 0 if it names none."""
    found = BILLIONS.search(model.id)
    return float(found[1]) if found else 0


def is_finetune_base(model: LlmModel) -> bool:
    """Return True for a small old model that Workers AI keeps only for adapters."""
    return FINETUNE_BASE.fullmatch(model.id) is not None


def choose(models: Sequence[LlmModel], default: LlmModel) -> Mapping[str, str]:
    """Return the id of a model for each kind of door, of those that the models allow.

    By price, size and abilities: *Everyday* is the default model; *Careful* a large one, best one that
    reasons; *Pictures* the cheapest that sees; *Code* the cheapest made for code. One that everybody can use
    comes before one that needs the paid plan, retires soon or is in beta.
    """
    fit = [model for model in models if _is_for_people(model)]
    found = {EVERYDAY: default, PICTURES: _cheapest(model for model in models if model.vision)}
    others = [model for model in fit if model.id != default.id]
    found[CAREFUL] = _first(others, lambda model: size(model) >= LARGE_BILLIONS, _carefulness)
    found[CODE] = _first(others, lambda model: "code" in model.id.lower(), _price)
    return {kind: model.id for kind in KINDS if (model := found.get(kind))}


def _is_for_people(model: LlmModel) -> bool:
    special = model.finetune or model.is_route or model.host is Provider.AI_SEARCH
    return not (special or is_finetune_base(model))


def _first(
    models: Iterable[LlmModel], fits: Callable[[LlmModel], bool], order: Callable[[LlmModel], float]
) -> LlmModel | None:
    return min(filter(fits, models), key=lambda model: (_reservations(model), order(model)), default=None)


def _cheapest(models: Iterable[LlmModel]) -> LlmModel | None:
    return _first(models, lambda _: True, _price)


def _reservations(model: LlmModel) -> int:
    return sum((model.paid, model.beta, model.retires is not None))


def _carefulness(model: LlmModel) -> float:
    return -size(model) - (1_000 if model.reasoning else 0)


def _price(model: LlmModel) -> float:
    """Return what a question costs, in units of its own; an unknown price comes last, unless it is local."""
    if model.local:
        return 0
    if model.price_in is None or model.price_out is None:
        return float("inf")
    return INPUT_SHARE * model.price_in + model.price_out
