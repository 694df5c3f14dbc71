"""The requests of a run with tools: its declarations, the calls, and their results, all within the window."""

import json
import math
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chat.conversations.tools.tool import Source, Tool
from chat.limits import MAX_REPLY_CHARS, MAX_TOOL_NAME_CHARS
from chat.upstream import token_budget
from chat.upstream.chat_request import ChatRequest
from chat.wire import strict_json
from chat.wire.text import sanitize

MIN_RESULT_TOKENS = 200  # with less room in the window a result is left out
REPLY_TOKENS = 1_000  # that declarations and results leave to the reply at least
DECLARATIONS_DIVISOR = 2  # declarations get at most half of what the messages leave
MAX_ARGUMENT_DEPTH = 10
FIRST_VALUE = json.JSONDecoder(strict=False)
# Of models, in names of tools: what stands before the name, such as "functions.", and behind it.
TEMPLATE_MARKS = re.compile(r"^[^<]*[.:](?=\D)|(<\||:\d+$).*", re.DOTALL)
NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
CALL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def call_of(call: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return a tool call in OpenAI's shape as every server takes it back, and its arguments; None if unfit.

    It has an id, which some servers do not give, a name of the letters that all accept, and valid JSON.
    """
    function = call.get("function") or {}
    id_ = str(call.get("id") or "")
    arguments = arguments_of(sanitize(str(function.get("arguments") or "{}"))[:MAX_REPLY_CHARS])
    name = TEMPLATE_MARKS.sub("", str(function.get("name") or "").strip())
    made = {
        "id": id_ if CALL_ID.fullmatch(id_) else f"call_{uuid.uuid4().hex[:9]}",
        "type": "function",
        "function": {
            "name": NO_NAME.sub("_", name)[:MAX_TOOL_NAME_CHARS] or "unknown",
            "arguments": json.dumps(arguments or {}, ensure_ascii=False),
        },
    }
    return made, arguments


def arguments_of(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call, as a database can store them; None if they are unfit.

    Some models write the object as a JSON text, line breaks as they are, or more behind the object: a mark
    of their template, a bracket too many, or the object again.
    """
    found: Any = text
    for _ in range(2):
        try:
            value, _end = FIRST_VALUE.raw_decode(found.lstrip())
            found = strict_json.loads(json.dumps(storable(value)).encode(), max_depth=MAX_ARGUMENT_DEPTH)
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, str):
            break
    return found if isinstance(found, dict) else None


def storable(value: Any) -> Any:
    """Return JSON without NUL, lone surrogates and NaN, which a database refuses."""
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [storable(each) for each in value]
    if isinstance(value, dict):
        return {storable(name): storable(each) for name, each in value.items()}
    return value


def fenced(number: int, source: Source) -> str:
    """Return a source for the model, in a fence that the source's own text cannot close."""
    text = re.sub(r"</?\s*source", "‹source", source.text, flags=re.IGNORECASE)
    title = re.sub(r"\s+", " ", source.title).replace("<", "‹")
    date = f" ({source.date})" if source.date else ""
    return f'<source number="{number}">\n{title}{date}\n{source.url}\n\n{text}\n</source>'


def with_system(request: ChatRequest, paragraphs: Sequence[str]) -> ChatRequest:
    """Return the request with these paragraphs at the end of the system prompt."""
    messages, words = request.messages, "\n\n".join(paragraphs)
    if messages[0]["role"] == "system":
        words, messages = f"{messages[0]['content']}\n\n{words}", messages[1:]
    return replace(request, messages=[{"role": "system", "content": words}, *messages])


def with_tools(request: ChatRequest, tools: Iterable[Tool]) -> ChatRequest:
    """Return the request with the declarations of the tools; the window may have no room for all."""
    room, declared = _room(request) // DECLARATIONS_DIVISOR, []
    for tool in tools:
        declaration = {"type": "function", "function": tool.declaration}
        cost = token_budget.declaration_tokens([declaration], request.model)
        if cost <= room:
            room -= cost
            declared.append(declaration)
    if not declared:
        return request
    return replace(request, raw_parameters={**request.raw_parameters, "tools": declared})


def within_window(request: ChatRequest) -> ChatRequest:
    """Return the request with its reply limited to what messages and declarations leave of the window."""
    left = max(token_budget.MIN_REPLY_TOKENS, request.model.window - _tokens(request))
    return replace(request, max_tokens=min(request.max_tokens, left))


def _tokens(request: ChatRequest) -> int:
    messages = token_budget.estimate_tokens(request.messages, request.model)
    return messages + token_budget.declaration_tokens(request.raw_parameters.get("tools", ()), request.model)


def _room(request: ChatRequest) -> int:
    return request.model.window - _tokens(request) - min(request.max_tokens, REPLY_TOKENS)


def following(request: ChatRequest, asked: dict[str, Any], results: Sequence[str]) -> ChatRequest:
    """Return the request with a message that calls tools, and with the results, cut to fit."""
    request = replace(request, messages=[*request.messages, asked])
    told = [
        {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": text}
        for call, text in zip(asked["tool_calls"], fitting(request, results), strict=True)
    ]
    return replace(request, messages=[*request.messages, *told])


def fitting(request: ChatRequest, texts: Sequence[str]) -> list[str]:
    """Return texts for the model, each cut so that all of them fit into the window.

    While tools are declared, a later result gets as large a share as each of these.
    """
    room, kept, more = _room(request), [], "tools" in request.raw_parameters
    for left, text in zip(range(len(texts), 0, -1), texts, strict=True):
        kept.append(_fitting(text, room // (left + more), local=request.model.local))
        room -= token_budget.estimate_tokens([{"content": kept[-1]}], request.model)
    return kept


def _fitting(text: str, room: int, *, local: bool) -> str:
    """Return the beginning of a result that takes at most `room` tokens."""
    if room < MIN_RESULT_TOKENS:
        return "The result is too long for what is left of the context window."
    while (cost := token_budget.estimate_text_tokens(text, local=local)) > room:
        text = text[: len(text) * room // cost]
    return text
