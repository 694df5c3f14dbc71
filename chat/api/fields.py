"""The body of a call: what of it is asked of the model, each field checked.

Fields nobody knows are ignored, as other servers of this API do: clients send `user`, `store`, `metadata` and
the like on their own.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.utils.translation import gettext as _

from chat.engine.refusal import Malformed, TooLong

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
TEXT = ("text", "input_text")
MOST_MESSAGES = 2_000
MOST_TOOLS = 128
MOST_TOKENS = 10_000_000
DEEPEST = 64  # levels of brackets
NUMBERS = {
    "temperature": (0, 5),
    "top_p": (0, 2),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "repetition_penalty": (0, 2),
}
INTEGERS = {"top_k": (1, 10_000), "seed": (-(2**63), 2**63 - 1)}
OBJECTS = ("response_format", "logit_bias", "chat_template_kwargs")
TYPES = ("text", "json_object", "json_schema")
CHOICES = ("none", "auto", "required", "any")
MOST_STOPS = 16
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a call asks for. `max_tokens` None: as many as the model gives."""

    model: str
    messages: list[Object]
    stream: bool = False
    include_usage: bool = False
    max_tokens: int | None = None
    parameters: Object = field(default_factory=dict)


def read(request: HttpRequest) -> Object:
    """The body as an object, however it is labelled: curl calls what it sends a form. Raises Malformed."""
    try:
        sent = json.loads(request.body, parse_constant=_no_number)
    except RequestDataTooBig as error:
        raise TooLong(_("This is longer than 1 MiB. Send less.")) from error
    except UnreadablePostError as error:
        raise Malformed(_("This call ended before its end.")) from error
    except (ValueError, RecursionError) as error:
        raise Malformed(_("This is not JSON.")) from error
    if not isinstance(sent, dict):
        raise Malformed(_("Send a JSON object."))
    _refuse_depth(sent)
    return sent


def wanted(sent: Object, model: object) -> Wanted:
    """Raises Malformed."""
    if not isinstance(model, str) or not model:
        raise Malformed(_("“%(name)s” must be text.") % {"name": "model"})
    if _given(sent, "n", (int,), 1) != 1:
        raise Malformed(_("Only one reply can be asked for at a time: “n” must be 1."))
    options = _given(sent, "stream_options", (dict,), {})
    return Wanted(
        model,
        _messages(sent),
        stream=_given(sent, "stream", (bool,), False),
        include_usage=_given(options, "include_usage", (bool,), False),
        max_tokens=_max_tokens(sent),
        parameters=dict(_parameters(sent)),
    )


def _max_tokens(sent: Object) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        if (most := _given(sent, name, (int,))) is not None:
            return int(_within(name, most, 1, MOST_TOKENS))
    return None


def _parameters(sent: Object) -> Iterator[tuple[str, Any]]:
    for name, (least, most) in NUMBERS.items():
        if (number := _given(sent, name, (int, float))) is not None:
            yield name, _within(name, number, least, most)
    for name, (least, most) in INTEGERS.items():
        if (number := _given(sent, name, (int,))) is not None:
            yield name, _within(name, number, least, most)
    yield from _objects_of(sent)
    yield from _tools(sent)
    if (effort := _given(sent, "reasoning_effort", (str,))) is not None:
        yield "reasoning_effort", _text("reasoning_effort", effort)
    if (stop := _given(sent, "stop", (str, list))) is not None:
        if isinstance(stop, list) and (len(stop) > MOST_STOPS or not all(isinstance(s, str) for s in stop)):
            raise Malformed(_("“%(name)s” must be text, or a short list of texts.") % {"name": "stop"})
        yield "stop", stop


def _objects_of(sent: Object) -> Iterator[tuple[str, Any]]:
    for name in OBJECTS:
        if value := _given(sent, name, (dict,)):
            if name == "response_format" and value.get("type") not in TYPES:
                _refuse("response_format.type", TYPES)
            yield name, value


def _tools(sent: Object) -> Iterator[tuple[str, Any]]:
    if not (tools := _objects(sent, "tools", MOST_TOOLS)):
        return
    yield "tools", tools
    if (choice := _given(sent, "tool_choice", (str, dict))) is not None:
        if isinstance(choice, str) and choice not in CHOICES:
            _refuse("tool_choice", CHOICES)
        yield "tool_choice", "required" if choice == "any" else choice
    if (parallel := _given(sent, "parallel_tool_calls", (bool,))) is not None:
        yield "parallel_tool_calls", parallel


def _messages(sent: Object) -> list[Object]:
    """`messages`, or `prompt` as the one question."""
    prompt = _given(sent, "prompt", (str,))
    if (prompt is None) == (sent.get("messages") is None):
        raise Malformed(_("Send either “messages” or “prompt”."))
    given = [{"role": "user", "content": prompt}] if prompt is not None else sent["messages"]
    messages = [_message(each) for each in _objects({"messages": given}, "messages", MOST_MESSAGES)]
    if not any(message["content"].strip() or message.get("tool_calls") for message in messages):
        raise Malformed(_("“%(name)s” is empty. Write something.") % {"name": "messages"})
    return messages


def _message(sent: Object) -> Object:
    """In the shape that every model takes: `content` is text, also beside tool calls, and never null."""
    role = sent.get("role")
    if role not in ROLES:
        _refuse("role", ROLES)
    message: Object = {"role": "system" if role == "developer" else role, "content": _content(sent)}
    if role == "assistant" and (calls := _objects(sent, "tool_calls", MOST_TOOLS)):
        message["tool_calls"] = calls
    for name in ("tool_call_id", "name"):
        if role in ("tool", "function") and (value := _given(sent, name, (str,))) is not None:
            message[name] = _text(name, value)
    return message


def _content(sent: Object) -> str:
    content = _given(sent, "content", (str, list), "")
    if isinstance(content, str):
        return _text("content", content)
    parts = [part if isinstance(part, dict) else {} for part in content]
    texts = [part["text"] for part in parts if part.get("type") in TEXT and isinstance(part.get("text"), str)]
    if len(texts) != len(parts):
        raise Malformed(_("“content” must be text, or a list of parts of the type “text”."))
    return _text("content", "".join(texts))


def _given(sent: Mapping[str, Any], name: str, types: tuple[type, ...], default: Any = None) -> Any:
    """The field's value where it is there; null counts as not there. A boolean is no number."""
    value = sent.get(name)
    if value is None:
        return default
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise Malformed(_("“%(name)s” is of a wrong type.") % {"name": name})
    return value


def _objects(sent: Mapping[str, Any], name: str, most: int) -> list[Object]:
    given: list[Object] = _given(sent, name, (list,), [])
    if len(given) > most or not all(isinstance(each, dict) for each in given):
        words = _("“%(name)s” must be a list of at most %(most)s objects.")
        raise Malformed(words % {"name": name, "most": most})
    return given


def _text(name: str, value: str) -> str:
    if "\0" in value or (not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value)):
        raise Malformed(_("“%(name)s” holds characters that are no text.") % {"name": name})
    return value


def _within(name: str, number: float, least: float, most: float) -> float:
    if not (math.isfinite(number) and least <= number <= most):
        words = _("“%(name)s” must be from %(least)s to %(most)s.")
        raise Malformed(words % {"name": name, "least": least, "most": most})
    return number


def _refuse(name: str, allowed: tuple[str, ...]) -> NoReturn:
    words = _("“%(name)s” must be one of: %(names)s.")
    raise Malformed(words % {"name": name, "names": ", ".join(allowed)})


def _no_number(name: str) -> NoReturn:
    """`NaN` and `Infinity`, which Python reads and JSON does not know."""
    raise ValueError(name)


def _refuse_depth(sent: Object) -> None:
    """What can be read only just cannot be written again further down the stack."""
    level: list[Any] = [sent]
    for _depth in range(DEEPEST):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise Malformed(_("This is nested too deeply."))
