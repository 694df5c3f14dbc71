"""Workers AI's own REST API for its text models: clients change only the host and the token.

https://developers.cloudflare.com/api/resources/ai/methods/run/
"""

import json
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chat.engine.generation.api_calls import ActiveCall
from chat.models import Call
from chat.wire import sse
from chat.wire.delta import Delta

from .call_stream import StreamFormat, frame, stream_reply
from .calls import BodyReader, start_call
from .errors import workers_ai_error
from .openai import completion, usage_of
from .picture_parts import with_image
from .refusals import WRONG_TYPE, Object, invalid
from .request_body import CompletionParams
from .responses import NEURONS_HEADER, api_view, call_headers, json_response, read_reply


def envelope(result: object, **more: object) -> Object:
    return {"result": result, "success": True, "errors": [], "messages": [], **more}


@api_view(workers_ai_error, "POST")
async def run(request: HttpRequest, account: str, model: str) -> HttpResponseBase:
    """Reply to `prompt` or `messages` with the model in the URL."""
    return await _run(request, lambda sent: (model, with_image(sent)))


@api_view(workers_ai_error, "POST")
async def run_named(request: HttpRequest, account: str) -> HttpResponseBase:
    """Do the same as `run` with a body `{"model", "input"}`."""
    return await _run(request, _read_input)


async def _run(request: HttpRequest, read: BodyReader) -> HttpResponseBase:
    params, active_call = await start_call(request, Call.Dialect.WORKERS_AI, read)
    if params.stream:
        return await stream_reply(WorkersAIFrames(active_call))
    reply = await read_reply(active_call)
    response = json_response(envelope(_result(params, active_call, reply)), headers=call_headers(active_call))
    if usage := active_call.usage:
        response[NEURONS_HEADER] = f"{usage.neurons:.2f}"
    return response


def _read_input(sent: Object) -> tuple[object, Object]:
    fields = sent.get("input")
    if not isinstance(fields, dict):
        raise invalid(WRONG_TYPE, "input", "invalid_type")
    return sent.get("model"), {"gateway": sent.get("gateway")} | with_image(fields)


def _result(params: CompletionParams, active_call: ActiveCall, reply: Delta) -> Object:
    """Return the result in both shapes, as Workers AI does: its own, and OpenAI's, where clients look for
    the reasoning.

    `response` is parsed if JSON was requested. Tool calls are flat, with their arguments as an object.
    """
    text = reply.shown_text
    result: Object = {**completion(active_call, reply), "response": text}
    if params.parameters.get("response_format", {}).get("type", "text") != "text":
        result["response"] = _parsed(text)
    if reply.reasoning:
        result["reasoning_content"] = reply.reasoning
    result["tool_calls"] = _tool_calls(active_call)
    return result | {"finish_reason": active_call.finish_reason, "usage": usage_of(active_call.usage)}


def _tool_calls(active_call: ActiveCall) -> list[Object]:
    return [call if "custom" in call else _flat(call) for call in active_call.tool_calls]


def _flat(call: Object) -> Object:
    own = {name: value for name, value in call.items() if name not in ("type", "function")}
    function = call["function"]
    return own | {"name": function["name"], "arguments": _parsed(function["arguments"])}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


class WorkersAIFrames(StreamFormat):
    """Frames of a stream in Workers AI's own shape, the last one with the usage."""

    envelope = staticmethod(workers_ai_error)

    def first(self, delta: Delta) -> bytes:
        chunks = self.active_call.chunks
        return frame({"response": "", "chunks": chunks}) if chunks else b""

    def delta(self, delta: Delta) -> bytes:
        frames = self._thought(delta.reasoning) if delta.reasoning else b""
        if text := delta.shown_text:
            frames += b'data: {"response":%b}\n\n' % sse.dumps(text).encode()
        return frames + frame({"response": "", **delta.more}) if delta.more else frames

    def _thought(self, reasoning: str) -> bytes:
        """Return reasoning in both shapes. Text is in one: clients that read both would show it twice."""
        choice = {"index": 0, "delta": {"reasoning_content": reasoning}, "finish_reason": None}
        return frame({"response": "", "reasoning_content": reasoning, "choices": [choice]})

    def last(self) -> bytes:
        active_call = self.active_call
        calls = _tool_calls(active_call)
        called = frame({"response": "", "tool_calls": calls}) if calls else b""
        end: Object = {"response": "", "finish_reason": active_call.finish_reason}
        if usage := usage_of(active_call.usage):  # LangChain's client fails on null
            end["usage"] = usage
        return called + frame(end)
