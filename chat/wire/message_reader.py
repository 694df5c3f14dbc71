"""The reading of messages and deltas: text, reasoning, refusals, tool calls, and what is passed on."""

import zlib
from collections.abc import Mapping
from typing import Any

from chat.wire.content import TOKEN_NAMES, are_parts, reasoning_of, split_parts, text_of, thought_of
from chat.wire.delta import MESSAGE_FIELDS, Delta
from chat.wire.passages import Source, add_sources
from chat.wire.text import SurrogateJoiner, ThinkSplitter
from chat.wire.tool_calls import ToolCalls, sanitized_json

_Message = Mapping[str, Any]
PIECES_AT_ONCE = 100  # of content in a checksum: one for each costs more than all other reading of it


class MessageReader:
    """A reader for the message of one reply, in pieces or whole. It keeps the state, but not the text.

    `sources` are the pages that the model names, by address.
    """

    def __init__(self, *, inline_reasoning: bool) -> None:
        self.calls = ToolCalls()
        self.sources: dict[str, Source] = {}
        self._text = SurrogateJoiner()
        self._reasoning = SurrogateJoiner()
        self._splitter: ThinkSplitter | None = ThinkSplitter(opened=inline_reasoning)
        self._checksum = 0  # of the content so far, but for the pieces in `_unchecked`
        self._unchecked: list[str] = []

    def read(self, text: Any, message: _Message, *, whole: bool) -> Delta:
        """Return the delta of a message whose text or content is `text`, of any type."""
        delta = Delta()
        for name, value in message.items():
            if name == "content" or value is None or value == "" or name == "role":
                continue
            if value.__class__ is str and name in TOKEN_NAMES:
                delta.reasoning = value
            else:
                self._read_fields(delta, message, whole=whole)
                break
        if text.__class__ is not str:
            text = self._unusual_text(delta, text, message)
        self._unchecked.append(text)
        if len(self._unchecked) >= PIECES_AT_ONCE:
            self._check()
        if text := text + delta.text:
            text = self._text.add(text)
        if delta.reasoning:
            delta.reasoning = self._reasoning.add(delta.reasoning)
        delta.text = self._split(delta, text) if self._splitter else text
        return delta

    def without_repeat(self, message: _Message) -> _Message:
        """Return a closing message without the whole text, which some servers send once more in it."""
        self._check()
        content = message.get("content")
        is_repeated = isinstance(content, str) and _checksum(content, 0) == self._checksum != 0
        return {**message, "content": None} if is_repeated else message

    def _check(self) -> None:
        self._checksum = _checksum("".join(self._unchecked), self._checksum)
        self._unchecked.clear()

    def flush(self, *, complete: bool) -> Delta:
        """Return what was held back. `complete`: the reply has ended, and was not cut."""
        text, reasoning = self._text.flush(), self._reasoning.flush()
        if self._splitter:
            thought, text = self._splitter.add(text)
            held_thought, held_text = self._splitter.flush(complete=complete)
            text, reasoning = text + held_text, reasoning + thought + held_thought
            self._splitter = None
        return Delta(text, reasoning, tool_calls=self.calls.flush() or ())

    def _read_fields(self, delta: Delta, message: _Message, *, whole: bool) -> None:
        """Read the fields of a message other than its text into `delta`."""
        delta.reasoning = reasoning_of(message)
        delta.refusal = thought_of(message.get("refusal"))
        delta.tool_calls = self.calls.add(message.get("tool_calls"), whole=whole)
        called = message.get("function_call")  # some servers send both
        if isinstance(called, dict) and not message.get("tool_calls"):
            delta.tool_calls = [*delta.tool_calls, *self.calls.add([{"function": called}], whole=whole)]
        more = {name: sanitized_json(message[name]) for name in MESSAGE_FIELDS if message.get(name)}
        if more:
            delta.more = more
            add_sources(self.sources, more.get("annotations"))
            if are_parts(pictures := more.get("images", ())):
                delta.text, _, _ = split_parts(pictures)

    def _unusual_text(self, delta: Delta, text: Any, message: _Message) -> str:
        """Return the text of a value that is no text; what else a list of parts has goes into `delta`."""
        parts = [text] if isinstance(text, dict) else text
        if text is None or text is not message.get("content") or not are_parts(parts):
            return text_of(text)
        noted = [part.get("annotations") for part in parts if isinstance(part, dict)]
        annotations = [note for notes in noted if isinstance(notes, list) for note in notes]
        if annotations:
            delta.more = {**(delta.more or {}), "annotations": sanitized_json(annotations)}
            add_sources(self.sources, annotations)
        shown, reasoning, refusal = split_parts(parts)
        delta.reasoning += reasoning
        delta.refusal += refusal
        return shown

    def _split(self, delta: Delta, text: str) -> str:
        """Return the text without the reasoning in it, which is moved to `delta`."""
        assert self._splitter is not None
        if delta.reasoning:  # the server itself has separated the reasoning from the text
            thought, held = self._splitter.flush()
            delta.reasoning, text = thought + delta.reasoning, held + text
        elif text:
            delta.reasoning, text = self._splitter.add(text)
        if self._splitter.decided:
            self._splitter = None
        return text


def _checksum(text: str, before: int) -> int:
    """Continue the checksum of a text; spaces do not count, because some servers trim the whole text."""
    return zlib.crc32("".join(text.split()).encode("utf-8", "surrogatepass"), before)
