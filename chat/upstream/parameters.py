"""Request parameters: which model supports which of them, and the field of the body that each is sent in.

The ranges are those of Cloudflare's model pages (`/workers-ai/models/<name>/`) and of llama.cpp's server.
Some models reject a request with an unsupported parameter and others ignore it, so it is never sent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from . import token_budget
from .catalog import LlmModel, Provider, records

Value = bool | int | float | str
NUMBER, WHOLE, SWITCH, LEVEL = "number", "whole", "switch", "level"
LEVELS = ("low", "medium", "high", "xhigh", "max")  # of reasoning effort, ascending
MAX_TOKENS = 10_000_000  # more than any window
MAX_SEED = 9_999_999_999


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number from `minimum` to `maximum` in steps of `step`, one of `levels`, or a boolean switch.

    `default` is the model's own default, None if it is not documented. `path` holds the keys that lead to the
    field in the request body; empty for `max_tokens`, which is written elsewhere. `sent` maps a chosen value
    to the value in the body; a value without an entry is not sent.
    """

    name: str
    kind: str
    minimum: float = 0
    maximum: float = 0
    step: float = 1
    levels: tuple[str, ...] = ()
    default: Value | None = None
    path: tuple[str, ...] = ()
    sent: Mapping[Value, Value] | None = field(default=None, hash=False)

    def is_valid(self, value: object) -> bool:
        """Return True if the value has the right type and is within the range."""
        if self.kind == SWITCH:
            return isinstance(value, bool)
        if self.kind == LEVEL:
            return value in self.levels
        numbers = int if self.kind == WHOLE else (int, float)
        return (
            isinstance(value, numbers)
            and not isinstance(value, bool)
            and self.minimum <= value <= self.maximum
        )

    def clamp(self, value: Value) -> Value:
        """Return the nearest valid value; of two equally near levels the lower one."""
        if self.kind == SWITCH or self.is_valid(value):
            return value
        if self.kind == LEVEL:
            wanted = LEVELS.index(str(value))
            return min(self.levels, key=lambda level: abs(LEVELS.index(level) - wanted))
        assert not isinstance(value, str)
        nearest = min(max(value, self.minimum), self.maximum)
        return int(nearest) if self.kind == WHOLE else nearest


def _number(name: str, least: float, most: float, step: float, default: float | None = None) -> Parameter:
    return Parameter(name, NUMBER, least, most, step, default=default, path=(name,))


def _whole(name: str, least: int, most: int, default: int | None = None) -> Parameter:
    return Parameter(name, WHOLE, least, most, default=default, path=(name,))


TEMPERATURE = _number("temperature", 0, 2, 0.01)
TOP_P = _number("top_p", 0.001, 1, 0.001)  # 0 is rejected, because it leaves no token to choose from
SEED = _whole("seed", 1, MAX_SEED)
FREQUENCY = _number("frequency_penalty", -2, 2, 0.01, 0)
PRESENCE = _number("presence_penalty", -2, 2, 0.01, 0)

# For models that are not in MODELS: the parameters that every model in it supports.
CAUTIOUS_PARAMETERS = (TEMPERATURE, TOP_P, SEED)
CLASSIC_PARAMETERS = (
    _number("temperature", 0, 5, 0.01, 0.6),
    TOP_P,
    _whole("top_k", 1, 50),
    SEED,
    _number("repetition_penalty", 0, 2, 0.01),
    replace(FREQUENCY, default=None),
    replace(PRESENCE, default=None),
)
# Older models, most of them kept for LoRA adapters: their penalties cannot be negative.
ADAPTABLE_PARAMETERS = tuple(
    replace(p, minimum=0) if p.name in ("frequency_penalty", "presence_penalty") else p
    for p in CLASSIC_PARAMETERS
)
OPENAI_PARAMETERS = (TEMPERATURE, TOP_P, SEED, FREQUENCY, PRESENCE)
LOCAL_PARAMETERS = (
    _number("temperature", 0, 2, 0.01, 0.1),
    replace(TOP_P, default=0.9),
    _whole("top_k", 1, 100, 40),
    _whole("seed", 0, 4_294_967_294),
    Parameter("repetition_penalty", NUMBER, 0.5, 2, 0.01, default=1.05, path=("repeat_penalty",)),
    FREQUENCY,
    PRESENCE,
)

# Fields of OpenAI's API and of Workers AI's own, which the input schemas of the two kinds of models do not
# name: those models ignore or reject them.
NOT_IN_CLASSIC = {"stop", "logit_bias", "reasoning_effort", "chat_template_kwargs", "parallel_tool_calls"}
NOT_IN_OPENAI = {"top_k", "repetition_penalty"}

# Two ways to turn reasoning off: a switch of the chat template, or the reasoning effort "none".
TEMPLATE_SWITCH = Parameter(
    "thinking", SWITCH, default=True, path=("chat_template_kwargs", "enable_thinking")
)
LEVEL_SWITCH = Parameter("thinking", SWITCH, default=True, path=("reasoning_effort",), sent={False: "none"})
LOW_EFFORT = Parameter(
    "effort", LEVEL, levels=("low", "high"), default="high",
    path=("chat_template_kwargs", "low_effort"), sent={"low": True, "high": False},
)  # fmt: skip
FAMILIES = {"openai": OPENAI_PARAMETERS, "classic": CLASSIC_PARAMETERS, "adaptable": ADAPTABLE_PARAMETERS}
SWITCHES = {"template": (TEMPLATE_SWITCH,), "low_effort": (LOW_EFFORT, TEMPLATE_SWITCH)}


def _declared(record: Mapping[str, Any]) -> Iterator[Parameter]:
    """Yield the parameters of a bundled model: `takes`, `effort` (the default level) and `switch`.

    A switch comes after the level because, when it is off, it overwrites the same field.
    """
    yield from FAMILIES[record["takes"]]
    levels = tuple(level for level in record.get("efforts", ()) if level != "none")
    if default := record.get("effort"):
        yield Parameter("effort", LEVEL, levels=levels, default=default, path=("reasoning_effort",))
    yield from SWITCHES.get(record.get("switch", ""), ())
    if "none" in record.get("efforts", ()):
        yield LEVEL_SWITCH


MODELS: Mapping[str, tuple[Parameter, ...]] = {
    "@cf/meta/llama-3.1-70b-instruct-fp8-fast": CLASSIC_PARAMETERS,  # not bundled
    **{record["id"]: tuple(_declared(record)) for record in records("catalog.json")},
}

# All parameters a user can choose, each with the widest range of any model, because a conversation may
# change its model.
CHOSEN_PARAMETERS: Mapping[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter("thinking", SWITCH),
        Parameter("effort", LEVEL, levels=LEVELS),
        Parameter("max_tokens", WHOLE, 1, MAX_TOKENS),
        Parameter("temperature", NUMBER, 0, 5),
        TOP_P,
        Parameter("top_k", WHOLE, 1, 100),
        Parameter("repetition_penalty", NUMBER, 0, 2),
        FREQUENCY,
        PRESENCE,
        Parameter("seed", WHOLE, 0, MAX_SEED),
    )
}


@cache
def supported_parameters(model: LlmModel) -> tuple[Parameter, ...]:
    """Return the parameters that the model supports, `max_tokens` last; none for one of AI Search."""
    if model.host is Provider.AI_SEARCH:
        return ()
    takes = MODELS.get(model.id, CAUTIOUS_PARAMETERS)
    if model.local:
        takes = (*LOCAL_PARAMETERS, TEMPLATE_SWITCH) if model.reasoning else LOCAL_PARAMETERS
    usual, most = token_budget.default_max_tokens(model), token_budget.max_tokens_limit(model)
    return (*takes, Parameter("max_tokens", WHOLE, 1, most, default=usual))


def is_classic(model: LlmModel) -> bool | None:
    """Return True for a model with Workers AI's own input schema, False for one with OpenAI's.

    None for a model whose schema is not known here, and for a model of another server.
    """
    known = MODELS.get(model.address)
    if known is None or not model.counts_against_quota:
        return None
    return any(parameter.name == "top_k" for parameter in known)


def declares(model: LlmModel, name: str) -> bool | None:
    """Return True if the model's input schema names a field of an API client; None if it is not known."""
    if model.host is Provider.AI_SEARCH:
        return False
    classic = is_classic(model)
    return None if classic is None else name not in (NOT_IN_CLASSIC if classic else NOT_IN_OPENAI)


def to_request_body(model: LlmModel, chosen: Mapping[str, Value]) -> dict[str, Any]:
    """Return the body fields of the user's choices, without `max_tokens`, which `token_budget.fit` decides.

    Values outside the model's range are clamped; parameters that it does not support are left out.
    """
    made: dict[str, Any] = {}
    if not chosen:
        return made
    for parameter in supported_parameters(model):
        if parameter.name not in chosen or not parameter.path:
            continue
        value = parameter.clamp(chosen[parameter.name])
        if parameter.sent is not None and value not in parameter.sent:
            continue
        within = made
        for name in parameter.path[:-1]:
            within = within.setdefault(name, {})
        within[parameter.path[-1]] = value if parameter.sent is None else parameter.sent[value]
    return made


def to_provider_names(model: LlmModel, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the API client's fields by the model's names, such as repeat_penalty for repetition_penalty.

    Fields that the model's schema does not name are left out: they are done here, or have no effect.
    """
    if not sent:
        return {}
    own = {
        parameter.name: parameter.path[0]
        for parameter in supported_parameters(model)
        if len(parameter.path) == 1
    }
    return {own.get(name, name): value for name, value in sent.items() if declares(model, name) is not False}


def chosen_max_tokens(chosen: Mapping[str, Value]) -> int | None:
    """Return the user's choice of `max_tokens`; None if there is none."""
    wanted = chosen.get("max_tokens")
    return wanted if isinstance(wanted, int) else None


def merge(chosen: Mapping[str, Value], sent: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return `chosen` updated with `sent`, in which None removes a choice."""
    both = {**chosen, **sent}
    return {name: value for name, value in both.items() if value is not None}
