"""Event streams, both directions: bytes to events, and events to bytes.

The rules are those of
https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation, with one
difference: an event whose blank line never came is not thrown away but returned by `Decoder.close`, because
model servers do end their last event like that.

Lines are split on bytes. `str.splitlines`, which httpx uses for `aiter_lines`, also splits at U+2028, U+0085
and other characters that may stand unescaped inside a JSON string.
"""

import json
import re
from typing import Any, NamedTuple, NoReturn

PING = b": ping\n\n"
DONE = b"data: [DONE]\n\n"

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(r"\r\n|\r|\n")
# Readers that use `splitlines` would break a frame at these three; JSON allows to escape them.
_SPLITTERS = {0x2028: "\\u2028", 0x2029: "\\u2029", 0x85: "\\u0085"}
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class LineTooLong(ValueError):
    """A line, or the lines of one event together, grew beyond the decoder's limit."""


class Event(NamedTuple):
    """One event. `id` is the last id of the stream so far, as the specification wants it.

    `retry` is the reconnection time in milliseconds if one was given since the event before, else None.
    `unfinished` marks what `Decoder.close` returns: the stream ended inside it, so its data may be cut.
    """

    data: str
    event: str = "message"
    id: str = ""
    retry: int | None = None
    unfinished: bool = False


class Decoder:
    """Bytes in any chunking to events; one decoder per response.

    Holds at most `max_line` bytes of an event that is not complete, so that a hostile or broken server cannot
    fill the memory.
    """

    def __init__(self, max_line: int = 1_000_000) -> None:
        self._max_line = max_line
        self._too_long = False
        self._at_start = True  # a byte order mark may still come
        self._after_cr = False  # a line feed that comes next belongs to the line end already seen
        self._pieces: list[
            bytes
        ] = []  # of the line that has not ended; joined once, so long lines stay linear
        self._pieces_size = 0
        self._size = 0  # of the event's lines that have ended
        self._data: list[str] = []
        self._event = ""
        self._id = ""
        self._retry: int | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that `chunk` completes.

        Raises LineTooLong. Events that were complete before the long line are returned first; the error then
        comes with the next call, so that no text is lost with it.
        """
        if self._too_long:
            self._refuse()
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_line_feeds(chunk)
        lines = chunk.split(b"\n")
        rest = lines.pop()
        events: list[Event] = []
        if lines:
            if self._pieces:
                lines[0] = self._joined(lines[0])
            if self._at_start:
                self._at_start = False
                lines[0] = lines[0].removeprefix(_BOM)
            self._read(lines, events)
        if rest:
            self._pieces.append(rest)
            self._pieces_size += len(rest)
            if self._size + self._pieces_size > self._max_line:
                self._too_long = True
        if self._too_long and not events:
            self._refuse()
        return events

    def close(self) -> list[Event]:
        """What the end of the stream leaves: at most one event, marked `unfinished`. Raises LineTooLong."""
        if self._too_long:
            self._refuse()
        last = self._joined(b"")
        if self._at_start:
            last = last.removeprefix(_BOM)
        events: list[Event] = []
        self._read([last, b""] if last else [b""], events)
        return [event._replace(unfinished=True) for event in events]

    def _refuse(self) -> NoReturn:
        raise LineTooLong(f"an event of the stream is longer than {self._max_line:,} bytes")

    def _with_line_feeds(self, chunk: bytes) -> bytes:
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if chunk.endswith(b"\r"):
            self._after_cr = True
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _joined(self, last: bytes) -> bytes:
        line = b"".join(self._pieces) + last
        self._pieces.clear()
        self._pieces_size = 0
        return line

    def _read(self, lines: list[bytes], events: list[Event]) -> None:
        for line in lines:
            if not line:
                if self._data:
                    data = "\n".join(self._data)
                    events.append(Event(data, self._event or "message", self._id, self._retry))
                    self._data.clear()
                    self._retry = None
                self._event = ""
                self._size = 0
                continue
            self._size += len(line)
            if self._size > self._max_line:
                self._too_long = True
                return
            if line.startswith(b"data: "):  # nearly every line there is
                self._data.append(line[6:].decode("utf-8", "replace"))
            else:
                name, _, value = line.partition(b":")
                self._field(name, value.removeprefix(b" "))

    def _field(self, name: bytes, value: bytes) -> None:
        # An empty name is a comment; names nobody knows are ignored.
        if name == b"data":
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) < 16:
            self._retry = int(value)


def dumps(value: Any) -> str:
    """Compact JSON on one line for every reader, also for those that split at U+2028 and U+0085."""
    text = _to_json(value)
    return text if text.isascii() else text.translate(_SPLITTERS)


def encode(data: str, *, event: str = "", id: str = "") -> bytes:  # noqa: A002 (the field's own name)
    """One event as bytes.

    A line end inside `data`, of whatever kind, reaches the reader as a line feed. A lone surrogate, which
    UTF-8 cannot carry, becomes the escape that JSON has for it. Raises ValueError if `event` or `id` could
    not be read back: they hold a line end, or the id a NUL.
    """
    lines = []
    if event:
        lines.append(f"event: {_one_line(event)}\n")
    if id:
        if "\0" in id:
            raise ValueError("an event's id cannot hold a NUL")
        lines.append(f"id: {_one_line(id)}\n")
    if "\n" in data or "\r" in data:
        data = "\ndata: ".join(_LINE_END.split(data))
    lines.append(f"data: {data}\n\n")
    return "".join(lines).encode("utf-8", "backslashreplace")


def retry(milliseconds: int) -> bytes:
    """Tells the reader how long to wait before it connects again."""
    return b"retry: %d\n\n" % milliseconds


def _one_line(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise ValueError("an event's name and id cannot hold a line end")
    return value
