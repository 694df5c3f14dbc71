"""The decoding of a model's response, from bytes to deltas: events, frames, stop sequences, the end."""

from collections.abc import Iterable
from typing import Any

from . import sse
from .delta import Delta, merge
from .finish_reasons import ERROR, LENGTH, STOP, finish_reason
from .frames import FrameError, FrameReader
from .sse import JsonDecoder
from .text import StopSequences

BOM = b"\xef\xbb\xbf"
A_PAGE = "a page in place of a stream"


class DeltaDecoder(FrameReader):
    """A decoder for one response: the first bytes of its body say what it is, whatever its label.

    `stop`: sequences before which the text ends. `single_tool_call`: only the first tool call counts.
    `failure`: the error of the stream, to be raised after the text before it has been returned. `ignored`: an
    error after the end of the reply, which changes nothing.
    """

    def __init__(
        self,
        *,
        inline_reasoning: bool,
        max_tokens: int,
        stop: Iterable[str] = (),
        single_tool_call: bool = False,
    ) -> None:
        super().__init__(inline_reasoning=inline_reasoning)
        self.failure: Exception | None = None
        self.ignored: Exception | None = None
        self._opening = b""
        self._events: sse.Decoder | JsonDecoder | None = None
        self._stop_sequences = StopSequences(stop) if stop else None
        self._max_tokens = max_tokens
        self._single_tool_call = single_tool_call

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The tool calls received so far, in the shape of OpenAI's chat API."""
        calls = self.calls.as_list()
        return calls[:1] if self._single_tool_call else calls

    @property
    def finish_reason(self) -> str:
        """The finish reason; "" while unknown.

        Native frames have none, so a reply that used all its `max_tokens` counts as cut off ("length"). So
        does one whose tool call ends in the middle, then or without a reason that says more.
        """
        if self.is_stopped:
            return STOP
        reason, usage = self.reason, self.usage
        is_used_up = usage is not None and usage.completion_tokens >= self._max_tokens
        calls = self.calls
        if calls.is_cut or (is_used_up and (not reason or calls.is_open)):
            return LENGTH
        if self.is_complete and reason in ("", STOP) and calls.is_open:
            return LENGTH
        return reason

    @property
    def odd_reason(self) -> str:
        """The server's own word for the finish reason, if that is none of the known ones."""
        name = self.named_reason
        return name if finish_reason(name) is None else ""

    @property
    def is_complete(self) -> bool:
        """True if the model declared its reply finished, or a stop sequence was found."""
        return self.done or self.is_settled or self.is_stopped

    @property
    def has_ended(self) -> bool:
        """True if nothing more is to be read: after the end, an error or a stop sequence."""
        return self.done or self.failure is not None or self.is_stopped

    @property
    def is_stopped(self) -> bool:
        """True if a stop sequence was found, so that the server cannot say what the reply has cost."""
        return self._stop_sequences is not None and self._stop_sequences.found

    @property
    def is_json(self) -> bool:
        return isinstance(self._events, JsonDecoder)

    @property
    def is_empty(self) -> bool:
        """True if nothing was said so far, nor a reason given for that."""
        return not (self.has_said or self.reason)

    def decode(self, chunk: bytes | None) -> Delta | None:
        """Decode `chunk`, None for the end of the stream, up to an error in it; see `failure`.

        All events of a chunk become one delta. None if that says nothing.
        """
        delta: Delta | None = None
        try:
            for event in self._split(chunk):
                delta = merge(delta, self._read_event(event))
                if self.failure is not None:
                    break
            if chunk is None:
                self._end_body()
            if chunk is None or self.done:
                delta = merge(delta, self.flush())
        except (FrameError, sse.LineTooLong) as error:
            self._fail(error)
        if stops := self._stop_sequences:
            delta = delta or Delta()
            delta.text = stops.add(delta.text)
            if stops.found:
                self.failure = None  # what follows is ignored, an error too
            elif chunk is None or self.is_complete or self.failure is not None:
                delta.text += stops.flush()
        if self._single_tool_call and delta:
            delta.tool_calls = [piece for piece in delta.tool_calls if piece["index"] == 0]
        return delta if delta and delta.says_something else None

    def _split(self, chunk: bytes | None) -> list[sse.Event]:
        if self._events is None:
            self._opening += chunk or b""
            start = self._opening.removeprefix(BOM).lstrip()
            if chunk is not None and (not start or BOM.startswith(start)):
                self._opening = self._opening[-len(BOM) :]
                return []
            if start.startswith(b"<"):
                raise FrameError(A_PAGE)
            self._events = JsonDecoder() if start[:1] in (b"{", b"[") else sse.Decoder(is_tolerant=True)
            chunk = start if chunk is not None else None
        return self._events.close() if chunk is None else self._events.feed(chunk)

    def _read_event(self, event: sse.Event) -> Delta | None:
        try:
            delta = self.read(event)
        except FrameError as error:
            self._fail(error)
            return None
        if self.reason == ERROR:
            self.failure = FrameError(None, self.named_reason)
        return delta

    def _fail(self, error: Exception) -> None:
        """Note an error; after the finish reason it makes no failure of a reply."""
        if self.is_settled:
            self.ignored = error
            self.done = self.done or isinstance(error, sse.LineTooLong)
        else:
            self.failure = error

    def _end_body(self) -> None:
        """Note that the body has ended in order: any finish reason stands, and one JSON value is all."""
        if isinstance(self._events, JsonDecoder) and self._events.values == 1 and not self.is_cut:
            self.done = True
        self.is_settled = bool(self.reason)
