"""OpenAI's chat API, as far as it applies to chat models.

https://platform.openai.com/docs/api-reference/chat
"""

import time
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chat.db.executor import run_in_db
from chat.engine.engine import get_engine
from chat.engine.generation.api_calls import ActiveCall
from chat.models import Call
from chat.upstream.catalog import LlmModel
from chat.wire import sse
from chat.wire.delta import FRAME_FIELDS, Delta
from chat.wire.usage import Usage

from .call_stream import StreamFormat, frame, stream_reply
from .calls import start_call
from .errors import openai_error
from .models import get_model, list_models
from .refusals import Object
from .responses import api_view, call_headers, json_response, read_reply

NO_FIELDS: Mapping[str, object] = {}
UNKNOWN_TIME = 0  # `created` of every model


@api_view(openai_error, "POST")
async def chat_completions(request: HttpRequest, **address: Any) -> HttpResponseBase:
    """Reply to `messages`, in one JSON response or as a stream."""
    params, active_call = await start_call(request, Call.Dialect.OPENAI, _read)
    if params.stream:
        return await stream_reply(OpenAIChunks(active_call, include_usage=params.include_usage))
    reply = await read_reply(active_call)
    return json_response(completion(active_call, reply), headers=call_headers(active_call))


@api_view(openai_error, "GET", "HEAD")
async def models(request: HttpRequest) -> HttpResponseBase:
    """List the models that the key's user may use."""
    offered = await run_in_db(list_models, await get_engine(), request)
    return json_response({"object": "list", "data": [_model(model) for model in offered]})


@api_view(openai_error, "GET", "HEAD")
async def model(request: HttpRequest, model: str) -> HttpResponseBase:
    return json_response(_model(await run_in_db(get_model, await get_engine(), request, model)))


def _read(sent: Object) -> tuple[object, Object]:
    return sent.get("model"), sent


def _model(model: LlmModel) -> Object:
    maker = "local" if model.local else model.id.removeprefix("@cf/").partition("/")[0]
    return {"id": model.id, "object": "model", "created": UNKNOWN_TIME, "owned_by": maker}


def usage_of(usage: Usage | None) -> Object | None:
    """Return OpenAI's `usage` object, extended by Cloudflare's `neurons`; None if it is not known."""
    if usage is None:
        return None
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "neurons": usage.neurons,
        **({"estimated": True} if usage.is_estimated else {}),
    }


def completion(active_call: ActiveCall, reply: Delta) -> Object:
    """Return the body of an unstreamed reply.

    With tool calls or a refusal, and no text, `content` is null.
    """
    calls, more = active_call.tool_calls, dict(reply.more or {})
    message: Object = {"role": "assistant", "content": reply.text or (None if calls or reply.refusal else "")}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.refusal:
        message["refusal"] = reply.refusal
    beside = {name: more.pop(name) for name in FRAME_FIELDS if name in more}
    message |= more
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": active_call.finish_reason}
    body = head(active_call) | {"object": "chat.completion"}
    if active_call.chunks:
        body["chunks"] = active_call.chunks
    return body | {"choices": [choice], "usage": usage_of(active_call.usage)} | beside


def head(active_call: ActiveCall) -> Object:
    call = active_call.call
    return {"id": f"chatcmpl-{call.pk.hex}", "created": int(time.time()), "model": call.model}


class OpenAIChunks(StreamFormat):
    """Chunks of a stream. Everything but the text is encoded once for all chunks of a reply."""

    envelope = staticmethod(openai_error)
    MARK = "\0"  # placeholder for the text; no model's name contains it, so the chunk is split at it

    def __init__(self, active_call: ActiveCall, *, include_usage: bool) -> None:
        super().__init__(active_call)
        self._include_usage = include_usage
        self._head = head(active_call) | {"object": "chat.completion.chunk"}
        # With `include_usage`, OpenAI sends `"usage": null` in every chunk but the last.
        self._head |= {"usage": None} if include_usage else {}
        self._text, self._end = self._skeleton("content")
        self._reasoning, _end = self._skeleton("reasoning_content")

    def first(self, delta: Delta) -> bytes:
        """Return the first chunk, with the passages of AI Search.

        They are no event of their own, as they are in Cloudflare's stream: OpenAI's clients take each event
        for a chunk. A reply that begins with tool calls or a refusal has no content, until there is a text.
        """
        chunks = self.active_call.chunks
        begun = {"role": "assistant", "content": None if delta.tool_calls or delta.refusal else ""}
        return self._chunk(begun, more={"chunks": chunks} if chunks else {})

    def delta(self, delta: Delta) -> bytes:
        frames = self._reasoning + _json(delta.reasoning) + self._end if delta.reasoning else b""
        if delta.text:
            frames += self._text + _json(delta.text) + self._end
        if delta.refusal or delta.tool_calls or delta.more:
            frames += self._others(delta)
        return frames

    def _others(self, delta: Delta) -> bytes:
        """Return the chunks of what is neither text nor reasoning, each with one field."""
        frames = self._chunk({"refusal": delta.refusal}) if delta.refusal else b""
        for piece in delta.tool_calls:
            frames += self._chunk({"tool_calls": [piece]})
        for name, value in (delta.more or {}).items():
            beside = name in FRAME_FIELDS
            frames += self._chunk(
                {} if beside else {name: value}, more={name: value} if beside else NO_FIELDS
            )
        return frames

    def last(self) -> bytes:
        active_call = self.active_call
        frames = self._chunk({}, active_call.finish_reason)
        if self._include_usage:
            frames += frame(self._head | {"choices": [], "usage": usage_of(active_call.usage)})
        return frames

    def _chunk(
        self, delta: Object, reason: str | None = None, more: Mapping[str, object] = NO_FIELDS
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return frame(self._head | {"choices": [choice], **more})

    def _skeleton(self, name: str) -> tuple[bytes, bytes]:
        before, _, after = self._chunk({name: self.MARK}).partition(_json(self.MARK))
        return before, after


def _json(text: str) -> bytes:
    return sse.dumps(text).encode()
