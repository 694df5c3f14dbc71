"""A reader for the frames of model servers, in all their formats.

These are the frames of Workers AI (the old native ones, the current OpenAI chunks with one native frame at
the end, and both in one), of AI Gateway and of OpenAI's chat API as other servers speak it, and their JSON
responses, which some models send even if a stream was requested.
"""

import json
import re
from collections.abc import Mapping
from functools import reduce
from typing import Any

from chat.wire.content import json_or_text
from chat.wire.delta import FRAME_FIELDS, Delta, merge
from chat.wire.finish_reasons import STOP, finish_reason, reason_in, spelled
from chat.wire.frame_errors import ERRORS, OUTCOMES, FrameError, is_said, native_message, raise_if_error
from chat.wire.message_reader import MessageReader
from chat.wire.other_apis import as_chunk
from chat.wire.passages import Source, add_sources, valid_chunks
from chat.wire.sse import Event
from chat.wire.tool_calls import ToolCalls, sanitized_json
from chat.wire.usage import Usage, UsageAccumulator, usage_in

# Called directly, because `json.loads` spends a third of its time around this call, which runs once per
# token. Not strict, because control characters may be unescaped.
_scan = json.JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]  # public, but not in the stubs
_Object = dict[str, Any]
_NOTHING: Mapping[str, Any] = {}
DONE = "[DONE]"
JSON_START = re.compile(r'\{|\[\s*[\[{"]')
# Of a frame, wherever it begins.
CONTENT = re.compile(r"""\\?["'](choices|delta|content|response)\\?["']\s*:""")
AROUND = " \t\r\n\0\ufeff"  # a frame, and no part of it
_RARE_FIELDS = {"success", "internalCode", "chunks", "type", "output", *ERRORS, *OUTCOMES, *FRAME_FIELDS}
_WRAPPERS = {"result", "streamed_data"}  # Cloudflare's envelopes of a JSON response


class FrameReader:
    """A reader for one reply. It keeps the state across frames, but not the text.

    `done` is True after `[DONE]`; everything after it is ignored. `reason` is the finish reason, one of
    `finish_reasons`, "" while unknown; `named_reason` is the server's own word for it. `is_settled`: it
    stands, so the reply is complete whatever follows; `is_last`: it came alone, so only the last frames
    follow. `skipped` counts what is no frame; `is_cut`: the body ended inside one. `chunks` are the passages
    that AI Search gave to the model, as it sent them.
    """

    def __init__(self, *, inline_reasoning: bool = False) -> None:
        self.done = self.is_settled = self.is_last = self.has_said = False
        self.reason = self.named_reason = ""
        self.skipped = 0
        self.is_cut = False
        self.chunks: list[_Object] = []
        self._usage = UsageAccumulator()
        self._message = MessageReader(inline_reasoning=inline_reasoning)
        self._frame_fields: _Object = {}  # as they were passed on last
        self._index: object = None  # of the choice that is read
        self._is_unreliable = False  # a finish reason was followed by more text
        self._has_skipped_last = False  # since the last text

    @property
    def usage(self) -> Usage | None:
        return self._usage.usage()

    @property
    def calls(self) -> ToolCalls:
        return self._message.calls

    @property
    def sources(self) -> list[Source]:
        return list(self._message.sources.values())

    def read(self, event: Event) -> Delta | None:
        """Return the delta of one event; None if it adds nothing.

        Raises FrameError if the event is an error, or JSON that is broken: text is missing then. What does
        not look like JSON is skipped, as the pings of some servers are, and so are events with a name, unless
        they hold a chunk. `flush` may be called after an error.
        """
        if self.done:
            return None
        if event.event != "message":
            return self._named(event)
        data = event.data
        try:
            frame, end = _scan(data, 0)
        except (StopIteration, ValueError, RecursionError):
            return self._unusual(event)
        try:
            return self._frame(frame) if end == len(data) else self._unusual(event)
        except RecursionError:
            raise FrameError(None) from None

    def flush(self) -> Delta | None:
        """Return what was held back, at the end; None if there is nothing.

        A lone surrogate becomes U+FFFD, and an incomplete tag becomes part of the reasoning.
        """
        delta = self._message.flush(complete=self.reason == STOP)
        return delta if delta.says_something else None

    def _named(self, event: Event) -> Delta | None:
        """Read an event with a name: passages, an error, or a chunk under a name of the server's own."""
        if event.data.strip() == DONE:
            self._finish()
            return None
        value = json_or_text(event.data)
        if event.event == "chunks" and not event.unfinished:
            self.chunks = valid_chunks(value)
            return None
        if isinstance(value, dict):
            is_chunk = isinstance(value.get("choices"), list) or value.get("error")
            if is_chunk or as_chunk(value, has_said=self.has_said) is not value:
                return self._frame(value)
        if event.event == "error":
            raise FrameError(value)
        self._broken(value.strip() if isinstance(value, str) else "", event)
        return None

    def _unusual(self, event: Event) -> Delta | None:
        """Read data that is not one JSON value: `[DONE]`, several of them, lines, spaces around it."""
        data = event.data.strip(AROUND)
        while data.startswith("data:"):  # wrapped twice, by a proxy
            data = data[5:].lstrip()
        if data == DONE:
            self._finish()
            return None
        try:
            values = _values(data)
        except (StopIteration, ValueError, RecursionError):
            if "\n" not in data:
                self._broken(data, event)
                return None
            # Of a server that sends no blank lines between its events
            return reduce(merge, (self.read(event._replace(data=line)) for line in data.split("\n")), None)
        return reduce(merge, map(self._frame, values), None)

    def _broken(self, data: str, event: Event) -> None:
        """Skip what is no JSON. Raises FrameError for a broken frame, unless the stream ended inside it."""
        self.is_cut = event.unfinished
        if (JSON_START.match(data) or CONTENT.search(data)) and not event.unfinished:
            raise FrameError(None)
        self.skipped += not event.unfinished
        self._has_skipped_last = not event.unfinished

    def _finish(self) -> None:
        """End the reply at `[DONE]`. Raises FrameError if the last words before it were not understood."""
        self.done = True
        if self.has_said and self._has_skipped_last and not self.reason:
            raise FrameError(None)

    def _frame(self, frame: Any) -> Delta | None:
        if frame.__class__ is not dict:
            return self._odd(frame)
        is_rare = not _RARE_FIELDS.isdisjoint(frame)
        if is_rare:
            frame = as_chunk(frame, has_said=self.has_said)
            raise_if_error(frame)
        choices = frame.get("choices")
        if choices:
            choice, message = self._first(choices)
        elif not _WRAPPERS.isdisjoint(frame):
            return self._unwrapped(frame)
        else:
            choice, message = _NOTHING, native_message(frame)
        text = frame.get("response")
        if text is None or text == "":
            text = message.get("content")
            if text is None:
                text = choice.get("text") or ""
        delta = self._message.read(text, message, whole="message" in choice and reason_in(choice) is not None)
        if is_rare:
            self._read_rare_fields(delta, frame)
        says = delta.says_something
        if says:
            self.has_said = True
            self._has_skipped_last = False
            if self.reason:
                self._is_unreliable = True
                self.is_settled = self.is_last = False
        self._note(frame, choice, delta, says=says)
        return delta if says or delta.finish_reason else None

    def _note(self, frame: _Object, choice: Mapping[str, Any], delta: Delta, *, says: bool) -> None:
        """Note the finish reason and the usage."""
        reason = choice.get("finish_reason") or frame.get("finish_reason") or frame.get("done_reason")
        reason = reason or (
            reason_in(choice) if not says or "delta" not in choice else choice.get("finishReason")
        )
        if reason:
            delta.finish_reason = self._end(spelled(reason), alone=not says)
        usage = frame.get("usage") or ((reason or not says) and usage_in(frame, choice))
        if usage:
            # The usage of a frame without choices, or of a complete message, is that of the whole reply.
            is_total = frame.get("choices") is None or "message" in choice
            (self._usage.add_total if is_total else self._usage.add_chunk)(usage)
            self.is_last = self.is_last or (self.is_settled and not says)
        elif frame and not (says or reason or "choices" in frame or "response" in frame):
            self.skipped += 1  # of no known shape
        if frame.get("done") is True:  # in Ollama's own shape
            self.done = True

    def _odd(self, frame: Any) -> Delta | None:
        """Read a value that is no object: a list of frames or errors, or nothing that has a meaning."""
        if isinstance(frame, str) and CONTENT.search(frame):
            try:
                frame = [json.loads(frame, strict=False)]  # packed twice
            except ValueError:
                raise FrameError(None) from None
        frames = [each for each in frame if isinstance(each, dict)] if isinstance(frame, list) else []
        if not frames:
            self.skipped += frame is not None
            return None
        if not any(name in each for each in frames for name in ("choices", "response", "result")):
            raise FrameError(frame)
        return reduce(merge, map(self._frame, frames), None)

    def _unwrapped(self, frame: _Object) -> Delta | None:
        """Read what is in an envelope: a text, a frame or a list of frames."""
        inner = frame["result"] if "result" in frame else frame["streamed_data"]
        return self._frame({"response": inner} if isinstance(inner, str) else inner)

    def _first(self, choices: object) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return (the reply's choice, its delta or message); empty objects if missing or of another reply.

        The reply is choice 0, or the one that comes first, whatever a server calls it.
        """
        listed = [choices] if isinstance(choices, dict) else choices
        found = [each for each in listed if each.__class__ is dict] if isinstance(listed, list) else []
        if not found:
            return _NOTHING, _NOTHING
        choice, *others = sorted(found, key=_is_other) if len(found) > 1 else found
        index = choice.get("index") or 0
        if _is_other(choice) and self._index not in (None, index):
            return _NOTHING, _NOTHING
        self._index = index
        if "delta" in choice:
            message = choice["delta"]
        else:
            message = choice.get("message")
            if isinstance(message, dict) and reason_in(choice):
                message = self._message.without_repeat(message)
        if "error" in choice and is_said(choice["error"]):
            raise FrameError(choice)
        if message.__class__ is not dict:
            message = {"content": message} if message and isinstance(message, str | list) else _NOTHING
        if others and not (self.calls or message.get("tool_calls")):
            message = _with_calls(message, others)
        return choice, message

    def _read_rare_fields(self, delta: Delta, frame: _Object) -> None:
        """Read the passages and sources beside the choices; some servers repeat these in each frame."""
        if "chunks" in frame:
            self.chunks = valid_chunks(frame["chunks"])
        for name in FRAME_FIELDS:
            value = frame.get(name)
            if value and value != self._frame_fields.get(name):
                self._frame_fields[name] = value
                delta.more = {**(delta.more or {}), name: sanitized_json(value)}
                add_sources(self._message.sources, value)

    def _end(self, name: str, *, alone: bool) -> str:
        """Note a finish reason, and return it as OpenAI names it."""
        known = finish_reason(name)
        if reason := STOP if known is None else known:
            self.named_reason, self.reason = name, reason
            self.is_settled = alone or not self._is_unreliable
            self.is_last = alone and self.has_said
        return reason


def _is_other(choice: _Object) -> bool:
    return choice.get("index") not in (None, 0, "0")


def _with_calls(message: Mapping[str, Any], others: list[Any]) -> Mapping[str, Any]:
    """Return the message with the tool calls of another choice, where Copilot puts those of Claude."""
    for other in others:
        called = other.get("message") if isinstance(other, dict) else None
        if isinstance(called, dict) and called.get("tool_calls"):
            return {**message, "tool_calls": called["tool_calls"]}
    return message


def _values(data: str) -> list[Any]:
    """Return the JSON values that stand one behind the other. Raises ValueError or StopIteration."""
    values: list[Any] = []
    while data:
        value, end = _scan(data, 0)
        values.append(value)
        data = data[end:].lstrip()
    return values
