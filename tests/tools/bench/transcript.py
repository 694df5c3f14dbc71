"""The parsed content of one stream, with times: an HTTP/1.1 response and its event stream."""

import json
import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from chat.wire import sse


class Body:
    """The bytes of a response's body, as they come: in chunks, or up to the connection's end."""

    def __init__(self) -> None:
        self.status = 0
        self._rest = b""
        self._chunked = False

    def feed(self, data: bytes) -> bytes:
        self._rest += data
        if not self.status and not self._take_head():
            return b""
        if self._chunked:
            return self._take_chunks()
        body, self._rest = self._rest, b""
        return body

    def _take_head(self) -> bool:
        head, end, rest = self._rest.partition(b"\r\n\r\n")
        if end:
            self.status = int(head.split(b" ", 2)[1])
            self._chunked = b"transfer-encoding: chunked" in head.lower()
            self._rest = rest
        return bool(end)

    def _take_chunks(self) -> bytes:
        taken, at = [], 0
        while (line_end := self._rest.find(b"\r\n", at)) >= 0:
            start = line_end + 2
            end = start + int(self._rest[at:line_end], 16)
            if len(self._rest) < end + 2:
                break
            taken.append(self._rest[start:end])
            at = end + 2
        self._rest = self._rest[at:]
        return b"".join(taken)


@dataclass(slots=True)
class Transcript:
    """One stream: its text, when each piece of it arrived, and whether `[DONE]` came. Times in seconds.

    `lengths`: of the pieces, in characters.
    """

    sent: float
    status: int = 0  # of the response; 0 where none came
    text: str = ""
    arrivals: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    complete: bool = False

    @property
    def first(self) -> float:
        """Seconds from the send to the first text; infinite where none came."""
        return self.arrivals[0] - self.sent if self.arrivals else math.inf

    @property
    def rate(self) -> float:
        """Words a second, from the first text to the last."""
        lasted = self.arrivals[-1] - self.arrivals[0] if self.arrivals else 0.0
        return (len(self.text.split()) - 1) / lasted if lasted else 0.0

    def part(self, since: float, until: float) -> float:
        """Return which part of the text came within these times, from 0 to 1."""
        pieces = zip(self.arrivals, self.lengths, strict=True)
        return sum(length for at, length in pieces if since <= at <= until) / len(self.text)

    def gaps(self, since: float, until: float) -> list[float]:
        """Seconds between two pieces of text, of those that came within these times."""
        within = [at for at in self.arrivals if since <= at <= until]
        return [later - earlier for earlier, later in pairwise(within)]


class Reader:
    """Reads what arrives into a transcript."""

    def __init__(self, sent: float) -> None:
        self.transcript = Transcript(sent)
        self._body = Body()
        self._decoder = sse.Decoder()

    def feed(self, at: float, data: bytes) -> None:
        body = self._body.feed(data)
        self.transcript.status = self._body.status
        for event in self._decoder.feed(body):
            if event.data == "[DONE]":
                self.transcript.complete = True
            elif text := text_of(json.loads(event.data)):
                self.transcript.text += text
                self.transcript.arrivals.append(at)
                self.transcript.lengths.append(len(text))


def text_of(payload: dict[str, Any]) -> str:
    """The text of a frame of ours, of Workers AI's own, or of OpenAI's shape."""
    if isinstance(response := payload.get("response"), str):
        return response
    choices = payload.get("choices") or [{}]
    return choices[0].get("delta", {}).get("content") or ""
