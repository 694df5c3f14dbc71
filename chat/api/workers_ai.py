"""Workers AI's own REST API, as far as its text models have it: only the host and the token are others.

https://developers.cloudflare.com/api/resources/ai/methods/run/
"""

import json
import uuid
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.engine.calls import Exchange
from chat.engine.database import in_database
from chat.engine.engine import engine
from chat.engine.refusal import Malformed
from chat.models import Call
from chat.upstream.catalogue import Model
from chat.wire import sse
from chat.wire.frames import Delta

from .answering import answer, answers, stream, whole
from .asking import Reading, ask
from .fields import Object, Wanted, wanted
from .listing import listed
from .openai import usage_of
from .problems import Problem

STATUSES = {5007: 400, 2016: 424}  # where Cloudflare's differ from OpenAI's
LONGEST_PAGE = 1_000
TASK = {"id": "c329a1f9-323d-4e91-b2aa-582dd4188d34", "name": "Text Generation"}  # as Cloudflare names it


def failure(problem: Problem) -> tuple[int, Object]:
    """The status and the body of an error."""
    error = {"code": problem.number, "message": problem.message}
    body = {"result": None, "success": False, "errors": [error], "messages": []}
    return STATUSES.get(problem.number, problem.status), body


def envelope(result: object, **more: object) -> Object:
    return {"result": result, "success": True, "errors": [], "messages": [], **more}


@answers(failure, "POST")
async def run(request: HttpRequest, account: str, model: str) -> HttpResponseBase:
    """A reply to `prompt` or `messages` by the model in the address."""
    return await _run(request, partial(_read, model=model))


@answers(failure, "POST")
async def run_named(request: HttpRequest, account: str) -> HttpResponseBase:
    """The same with `{"model", "input"}`."""
    return await _run(request, _read_input)


@answers(failure, "GET", "HEAD")
async def search(request: HttpRequest, account: str) -> HttpResponseBase:
    """The models of this site, by the page."""
    words = request.GET.get("search", "").lower()
    number, size = _number(request, "page", 1), _number(request, "per_page", 50)
    models = await in_database(listed, await engine(), request)
    found = [model for model in models if words in f"{model.id} {model.name}".lower()]
    shown = found[(number - 1) * size :][:size]
    counts = {
        "page": number,
        "per_page": size,
        "count": len(shown),
        "total_count": len(found),
        "total_pages": -(-len(found) // size),
    }
    return answer(envelope([_record(model) for model in shown], result_info=counts))


async def _run(request: HttpRequest, read: Reading) -> HttpResponseBase:
    asked, exchange = await ask(request, Call.Dialect.WORKERS_AI, read)
    if asked.stream:
        return await stream(exchange, Frames(exchange))
    text, reasoning = await whole(exchange)
    response = answer(envelope(_result(asked, exchange, text, reasoning)))
    if usage := exchange.reply.usage:
        response["cf-ai-neurons"] = f"{usage.neurons:.2f}"
    response["X-Request-Id"] = str(exchange.call.pk)
    return response


def _read(sent: Object, model: str) -> Wanted:
    if sent.get("raw") is True:
        raise Malformed(_("“raw” is not taken here: every model gets its own template."))
    return wanted(sent, model)


def _read_input(sent: Object) -> Wanted:
    given = sent.get("input")
    if not isinstance(given, dict):
        raise Malformed(_("“%(name)s” is of a wrong type.") % {"name": "input"})
    return _read(given, sent.get("model", ""))


def _result(asked: Wanted, exchange: Exchange, text: str, reasoning: str) -> Object:
    """`response` is parsed where JSON was asked for; tool calls are flat and their arguments an object."""
    result: Object = {"response": text}
    if asked.parameters.get("response_format", {}).get("type", "text") != "text":
        result["response"] = _parsed(text)
    if reasoning:
        result["reasoning_content"] = reasoning
    result["tool_calls"] = _tool_calls(exchange)
    return result | {"finish_reason": exchange.finish_reason, "usage": usage_of(exchange.reply.usage)}


def _tool_calls(exchange: Exchange) -> list[Object]:
    return [
        {
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": _parsed(call["function"]["arguments"]),
        }
        for call in exchange.reply.tool_calls
    ]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number(request: HttpRequest, name: str, usual: int) -> int:
    written = request.GET.get(name, str(usual))
    if not (written.isascii() and written.isdigit() and len(written) < 6 and int(written)):
        raise Malformed(_("“%(name)s” must be a number from 1.") % {"name": name})
    return min(int(written), LONGEST_PAGE)


def _record(model: Model) -> Object:
    """As Cloudflare lists one: its id is in `name`, and nearly every value is a string."""
    known = {
        "context_window": str(model.window),
        "function_calling": model.tools,
        "reasoning": model.reasoning or model.inline_reasoning,
        "vision": model.vision,
    }
    properties = [
        {"property_id": name, "value": "true" if value is True else value}
        for name, value in known.items()
        if value
    ]
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, model.id)),
        "source": 1,
        "name": model.id,
        "description": model.name,
        "task": TASK,
        "tags": [],
        "properties": properties,
    }


class Frames:
    """Its stream: the native frames, the last one with the usage."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def first(self) -> bytes:
        return b""

    def delta(self, delta: Delta) -> bytes:
        if delta.reasoning:
            return _frame({"response": delta.text, "reasoning_content": delta.reasoning})
        return b'data: {"response":%b}\n\n' % sse.dumps(delta.text).encode()

    def last(self) -> bytes:
        reply = self._exchange.reply
        calls = _tool_calls(self._exchange)
        called = _frame({"response": "", "tool_calls": calls}) if calls else b""
        end = {"response": "", "finish_reason": self._exchange.finish_reason, "usage": usage_of(reply.usage)}
        return called + _frame(end)

    def failure(self, problem: Problem) -> bytes:
        return _frame(failure(problem)[1])


def _frame(payload: Object) -> bytes:
    return sse.encode(sse.dumps(payload))
