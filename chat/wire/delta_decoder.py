"""The decoding of a model's response, from bytes to deltas: events, frames, stop sequences, the end."""

from collections.abc import Iterable
from typing import Any

from . import sse
from .frames import Delta, FrameError, FrameReader
from .stop_sequences import StopSequences
from .usage import Usage


class DeltaDecoder:
    """A decoder for one response.

    `stop`: sequences before which the text ends. `single_tool_call`: only the first tool call counts.
    `failure`: the error of the stream, to be raised after the text before it has been returned.
    """

    def __init__(
        self,
        *,
        inline_reasoning: bool,
        max_tokens: int,
        stop: Iterable[str] = (),
        single_tool_call: bool = False,
    ) -> None:
        self.failure: Exception | None = None
        self._events = sse.Decoder()
        self._frames = FrameReader(inline_reasoning=inline_reasoning)
        self._stop_sequences = StopSequences(stop) if stop else None
        self._max_tokens = max_tokens
        self._single_tool_call = single_tool_call

    @property
    def usage(self) -> Usage | None:
        return self._frames.usage

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The tool calls received so far, in the shape of OpenAI's chat API."""
        return self._frames.tool_calls[:1] if self._single_tool_call else self._frames.tool_calls

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The passages that AI Search gave to the model, as it sent them."""
        return self._frames.chunks

    @property
    def finish_reason(self) -> str:
        """The finish reason; "" while unknown.

        Native frames have none, so a reply that used all its `max_tokens` counts as cut off ("length").
        """
        if self._is_stopped:
            return "stop"
        usage = self._frames.usage
        if not self._frames.finish_reason and usage and usage.completion_tokens >= self._max_tokens:
            return "length"
        return self._frames.finish_reason

    @property
    def has_finish_reason(self) -> bool:
        """True once the model has declared its finish reason; usage may still follow."""
        return bool(self._frames.finish_reason)

    @property
    def is_complete(self) -> bool:
        """True if the model declared its reply finished, or a stop sequence was found."""
        return self.is_done or self.has_finish_reason or self._is_stopped

    @property
    def is_done(self) -> bool:
        """True after `[DONE]` or a JSON response: all has been read."""
        return self._frames.done

    @property
    def has_ended(self) -> bool:
        """True if nothing more is to be read: after the end, an error or a stop sequence."""
        return self.is_done or self.failure is not None or self._is_stopped

    @property
    def _is_stopped(self) -> bool:
        return self._stop_sequences is not None and self._stop_sequences.found

    def decode(self, chunk: bytes | None) -> Delta | None:
        """Decode `chunk`, None for the end of the stream, up to an error in it; see `failure`.

        All events of a chunk become one delta. None if that has no text.
        """
        delta = Delta()
        try:
            for event in self._events.close() if chunk is None else self._events.feed(chunk):
                _add(delta, self._frames.read(event))
            if chunk is None or self.is_done:
                _add(delta, self._frames.flush())
        except (FrameError, sse.LineTooLong) as error:
            self.failure = error
        self._apply_stop_sequences(delta, ended=chunk is None or self.is_complete or self.failure is not None)
        return delta if delta.text or delta.reasoning else None

    def decode_json(self, body: Any) -> Delta:
        """Decode a parsed JSON response. Raises FrameError."""
        delta = self._frames.read_json(body)
        self._apply_stop_sequences(delta, ended=True)
        return delta

    def _apply_stop_sequences(self, delta: Delta, *, ended: bool) -> None:
        """End the text before a stop sequence, and ignore what follows it, an error too."""
        if self._stop_sequences is None:
            return
        delta.text = self._stop_sequences.add(delta.text)
        if self._is_stopped:
            self.failure = None
        elif ended:
            delta.text += self._stop_sequences.flush()


def _add(total: Delta, part: Delta | None) -> None:
    if part is not None:
        total.text += part.text
        total.reasoning += part.reasoning
