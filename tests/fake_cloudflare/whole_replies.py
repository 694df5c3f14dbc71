"""Responses in one piece, for the fake: any scenario that streams, asked without `stream`."""

import asyncio
import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

from tests.fake_cloudflare.http_server import Connection

Object = dict[str, Any]


class Whole:
    """Takes what a scenario writes as a stream, in its time, and responds with all of it at the end.

    A response that is no stream goes on as it is. A stream that is cut ends the connection without one.
    """

    def __init__(self, connection: Connection, *, envelope: bool, parsed: bool) -> None:
        """`envelope`: as `/ai/run` has it. `parsed`: JSON was asked for, so `response` is no text."""
        self._connection = connection
        self._envelope = envelope
        self._parsed = parsed
        self._streams = False
        self._status, self._headers = 200, [("", "")]
        self._body = b""

    def start(self, status: int, headers: Iterable[tuple[str, str]], *, chunked: bool = True) -> None:
        self._status = status
        self._headers = [each for each in headers if each[0] != "Content-Type"]

    def write(self, data: bytes) -> None:
        self._body += data

    async def drip(self, pieces: Iterable[bytes], delay: float) -> None:
        rest = iter(pieces)
        while batch := list(islice(rest, 100)):
            self._body += b"".join(batch)
            await asyncio.sleep(delay * len(batch))

    async def flood(self, piece: bytes, times: int) -> None:
        await asyncio.sleep(0)

    async def reset(self) -> None:
        self._connection.start(200, [], chunked=False)
        await self._connection.reset()

    def end(self) -> None:
        body, finished = _assemble(self._body, envelope=self._envelope, parsed=self._parsed)
        if finished:
            self._connection.respond(self._status, body, self._headers)

    def respond(self, status: int, body: object, headers: Iterable[tuple[str, str]] = ()) -> None:
        self._connection.respond(status, body, headers)


def _assemble(body: bytes, *, envelope: bool, parsed: bool) -> tuple[Object, bool]:
    """Return the whole body, and whether the stream came to its end."""
    frames = [line[6:] for line in body.replace(b"\r", b"\n").split(b"\n") if line.startswith(b"data: ")]
    finished = b"[DONE]" in frames
    text, reasoning, reason, usage, calls = "", "", "", {}, []
    for frame in (json.loads(each) for each in frames if each.startswith(b"{")):
        if frame.get("errors") or frame.get("error"):
            return frame, True
        choice = (frame.get("choices") or [{}])[0]
        delta = choice.get("delta") or {}
        text += _text(frame.get("response")) or _text(delta.get("content"))
        reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        reason = choice.get("finish_reason") or reason
        usage = frame.get("usage") or usage
        calls += delta.get("tool_calls") or ()
    found = [json.loads(each) for each in frames if each.startswith(b"[{")]  # by AI Search
    chunks: Object = {"chunks": found[0]} if found else {}
    message: Object = {"role": "assistant", "content": text}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    result: Object = chunks | {
        "choices": [{"index": 0, "finish_reason": reason or None, "message": message}],
        "object": "chat.completion",
        "model": "@cf/fake/model-external",
        "usage": usage,
    }
    if not envelope:
        return result, finished or bool(reason)
    result |= {"response": _parsed(text) if parsed else text, "tool_calls": []}
    whole = {"result": result, "success": True, "errors": [], "messages": []}
    return whole, finished or bool(reason)


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
