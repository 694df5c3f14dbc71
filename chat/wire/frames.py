"""A reader for the frames of model servers, in all their formats.

These are the frames of Workers AI (the old native ones, the current OpenAI chunks with one native frame at
the end, and both in one), of AI Gateway and of OpenAI's chat API, and their JSON responses, which some models
send even if a stream was requested.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from chat.wire.passages import valid_chunks
from chat.wire.sse import Event
from chat.wire.text import SurrogateJoiner, ThinkSplitter
from chat.wire.tool_calls import ToolCalls
from chat.wire.usage import Usage, UsageAccumulator

__all__ = ["Delta", "FrameError", "FrameReader", "Usage"]

# Called directly, because `json.loads` spends a third of its time around this call, which runs once per
# token. Not strict, because control characters may be unescaped.
_scan = json.JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]  # public, but not in the stubs
_Object = dict[str, Any]
_NOTHING: _Object = {}
_NAME = re.compile(r"[a-z_-]{1,40}")
_FINISH_REASONS = {
    "end_turn": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "content-filter": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
    "function_call": "tool_calls",
    "tool-calls": "tool_calls",
}


@dataclass(slots=True)
class Delta:
    """The text and reasoning that one frame adds to a reply, and its finish reason; "" for none."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.text or self.reasoning or self.finish_reason)


class FrameError(Exception):
    """The server reported an error in a frame, or in the body of a response with status 200.

    `payload` is the parsed frame or body; None if it was not JSON. It is not part of the exception's text,
    because it may quote the conversation.
    """

    def __init__(self, payload: object) -> None:
        super().__init__(
            "the model server sent an error" if payload else "the model server sent a broken frame"
        )
        self.payload = payload


class FrameReader:
    """A reader for one reply. It keeps the state across frames, but not the text.

    `done` is True after `[DONE]`; everything after it is ignored. `finish_reason` is "" while unknown, else
    `stop`, `length`, `tool_calls`, `content_filter`, `error`, or another value of the server in lower case.
    `chunks` are the passages that AI Search gave to the model, as it sent them.
    """

    def __init__(self, *, inline_reasoning: bool = False) -> None:
        self.done = False
        self.finish_reason = ""
        self.chunks: list[_Object] = []
        self._usage = UsageAccumulator()
        self._calls = ToolCalls()
        self._text = SurrogateJoiner()
        self._reasoning = SurrogateJoiner()
        self._splitter = ThinkSplitter() if inline_reasoning else None

    @property
    def usage(self) -> Usage | None:
        return self._usage.usage()

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return self._calls.as_list()

    def read(self, event: Event) -> Delta | None:
        """Return the delta of one event; None if it adds nothing.

        Raises FrameError if the event is an error or not JSON. An unfinished event that is not JSON is
        ignored, because the connection was cut inside it. `flush` may still be called after an error.
        """
        if self.done:
            return None
        if event.event != "message":
            if event.event == "error":
                raise FrameError(_json_or_text(event.data))
            if event.event == "chunks" and not event.unfinished:
                self.chunks = valid_chunks(_json_or_text(event.data))
            return None
        data = event.data
        try:
            frame, end = _scan(data, 0)
            if end != len(data):
                frame = self._parse_unusual(event)
        except (StopIteration, ValueError, RecursionError):
            frame = self._parse_unusual(event)
        return None if frame is None else self._frame(frame)

    def read_json(self, body: object) -> Delta:
        """Return the reply in a parsed JSON response, in any of the known envelopes, as one delta.

        The delta is empty if the response has no text. Raises FrameError if the response is an error.
        """
        result = body
        while isinstance(result, dict) and "result" in result:
            _raise_if_error(result)
            result = result["result"]
        if isinstance(result, str):
            result = {"response": result}
        frames: list[object] = [result]
        if isinstance(result, dict) and isinstance(result.get("streamed_data"), list):
            _raise_if_error(result)
            frames = result["streamed_data"]
        deltas = [self._frame(frame) for frame in frames if frame is not None] + [self.flush()]
        self.done = True
        text = "".join(delta.text for delta in deltas if delta)
        reasoning = "".join(delta.reasoning for delta in deltas if delta)
        return Delta(text, reasoning, self.finish_reason)

    def flush(self) -> Delta | None:
        """Return the text that was held back; None if there is none.

        A lone surrogate becomes U+FFFD, and an incomplete tag becomes part of the reasoning.
        """
        text, reasoning = self._text.flush(), self._reasoning.flush()
        if self._splitter:
            thought, text = self._splitter.add(text)
            reasoning += thought + self._splitter.flush()
        return Delta(text, reasoning) if text or reasoning else None

    def _parse_unusual(self, event: Event) -> object:
        """Parse data that is not plain JSON: `[DONE]`, JSON with whitespace around it, or an error."""
        data = event.data.strip()
        if data == "[DONE]":
            self.done = True
            return None
        try:
            return json.loads(data, strict=False) if data else None
        except (ValueError, RecursionError):
            if event.unfinished:
                return None
            raise FrameError(None) from None

    def _frame(self, frame: object) -> Delta | None:
        if not isinstance(frame, dict):
            raise FrameError(frame if isinstance(frame, list) else None)
        _raise_if_error(frame)
        choices = frame.get("choices")
        choice, message = _first(choices) if choices else (_NOTHING, _NOTHING)
        usage = frame.get("usage")
        if usage:
            # The usage of a frame without choices, or of a complete message, is that of the whole reply.
            if choices is None or "message" in choice:
                self._usage.add_total(usage)
            else:
                self._usage.add_chunk(usage)
        if "chunks" in frame:
            self.chunks = valid_chunks(frame["chunks"])
        calls = message.get("tool_calls") or frame.get("tool_calls")
        if calls:
            self._calls.add(calls)
        reason = choice.get("finish_reason") or frame.get("finish_reason") or ""
        if reason:
            reason = _finish_reason(reason)
            self.finish_reason = reason or self.finish_reason
        text, reasoning = self._pieces(frame, choice, message)
        return Delta(text, reasoning, reason) if text or reasoning or reason else None

    def _pieces(self, frame: _Object, choice: _Object, message: _Object) -> tuple[str, str]:
        """Return (text, reasoning) of a frame, each from the first field that has it."""
        text = _first_text(
            frame.get("response"),
            message.get("content"),
            choice.get("text"),
            message.get("refusal"),  # OpenAI's models explain there why they do not answer
        )
        thinks = message or frame
        reasoning = _first_text(thinks.get("reasoning_content"), thinks.get("reasoning"))
        if text:
            text = self._text.add(text)
        if reasoning:
            reasoning = self._reasoning.add(reasoning)
        if self._splitter is None:
            return text, reasoning
        if reasoning:  # the server itself has separated the reasoning from the text
            return text, self._splitter.flush() + reasoning
        thought, visible = self._splitter.add(text)
        return visible, thought


def _raise_if_error(frame: _Object) -> None:
    """Raise FrameError if the frame has any of the forms of an error in Cloudflare's services."""
    if frame.get("errors") or frame.get("error") or frame.get("success") is False or "internalCode" in frame:
        raise FrameError(frame)


def _first(choices: object) -> tuple[_Object, _Object]:
    """Return (the first choice, its delta or message); empty objects if missing or of another reply."""
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or choice.get("index"):
        return _NOTHING, _NOTHING
    message = choice["delta"] if "delta" in choice else choice.get("message")
    return choice, message if isinstance(message, dict) else _NOTHING


def _first_text(*values: object) -> str:
    """Return the first value that is no empty text, as text; "" if there is none.

    A token that looks like JSON arrives unquoted and so parsed: `1`, `true`, in JSON mode an object.
    """
    for value in values:
        if value.__class__ is str:
            if value:
                return value
        elif value is not None:
            try:
                return json.dumps(value, ensure_ascii=False)
            except RecursionError:
                raise FrameError(None) from None
    return ""


def _finish_reason(reason: object) -> str:
    if not isinstance(reason, str):
        return ""
    reason = _FINISH_REASONS.get(reason.lower(), reason.lower())
    return reason if _NAME.fullmatch(reason) else "other"


def _json_or_text(data: str) -> object:
    try:
        return json.loads(data, strict=False)
    except (ValueError, RecursionError):
        return data
