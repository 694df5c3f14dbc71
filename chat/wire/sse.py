"""A decoder and an encoder for server-sent events.

They follow https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation with
one difference: `Decoder.close` returns an event without its final blank line instead of discarding it,
because some model servers end their last event like that. Some break further rules: see `Decoder`.

Lines are split as bytes, because `str.splitlines`, which httpx uses for `aiter_lines`, also splits at U+2028,
U+0085 and other characters that may be unescaped in a JSON string.
"""

import json
import re
from typing import Any, NamedTuple, NoReturn

PING = b": ping\n\n"
DONE = b"data: [DONE]\n\n"

_BOM = b"\xef\xbb\xbf"
_FIELD = re.compile(rb"(?:data|event|id|retry|error)?:")
_LINE_END = re.compile(r"\r\n|\r|\n")
# Clients that use `splitlines` would split an event at these three characters, so they are escaped in JSON.
_SPLITTERS = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\x85", "\\u0085"))
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
MAX_JSON_BYTES = 4_000_000


class LineTooLong(ValueError):
    """A line, or all lines of one event together, exceeded the decoder's limit."""


class Event(NamedTuple):
    """One event. `id` is the last id in the stream so far, as the specification requires.

    `unfinished`: the stream ended inside this event, so its data may be cut off (see `Decoder.close`).
    """

    data: str
    event: str = "message"
    id: str = ""
    unfinished: bool = False


class Decoder:
    """A decoder from chunks of any size to events; one per response.

    It buffers at most `max_line` bytes of an incomplete event, so that a hostile or broken server cannot fill
    the memory. `is_tolerant`: there may be no blank lines between the events, each a JSON value of one line;
    JSON may stand without `data:`, also in several lines; the field `error` is an event of that name.
    """

    def __init__(self, max_line: int = 1_000_000, *, is_tolerant: bool = False) -> None:
        self._max_line = max_line
        self._is_tolerant = is_tolerant
        self._ends_with_line = False  # each line of data has turned out to be an event
        self._too_long = False
        self._at_start = True  # a byte order mark may still come
        self._after_cr = False  # a line feed as the next byte belongs to the line end already seen
        # Chunks of the incomplete line, which are joined once, so that long lines take linear time.
        self._pieces: list[bytes] = []
        self._pieces_size = 0
        self._size = 0  # bytes of the complete lines of the current event
        self._data: list[str] = []
        self._is_bare = False  # the data began without `data:`
        self._event = ""
        self._id = ""

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that `chunk` completes.

        Raises LineTooLong. If events were complete before the long line, they are returned first and the next
        call raises, so that no text is lost.
        """
        if self._too_long:
            self._raise_too_long()
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
            self._raise_too_long()
        return events

    def close(self) -> list[Event]:
        """Return the event that the end of the stream cut off, marked `unfinished`, in a list of at most one.

        Raises LineTooLong.
        """
        if self._too_long:
            self._raise_too_long()
        last = self._joined(b"")
        if self._at_start:
            last = last.removeprefix(_BOM)
        events: list[Event] = []
        self._read([last, b""] if last else [b""], events)
        return [event._replace(unfinished=True) for event in events]

    def _raise_too_long(self) -> NoReturn:
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
                self._end_event(events)
                continue
            self._size += len(line)
            if self._size > self._max_line:
                self._too_long = True
                return
            goes_on = self._is_bare and self._goes_on(line)
            if (
                not goes_on
                and self._data
                and self._is_tolerant
                and (self._is_bare or is_whole(self._data[-1]))
            ):
                self._ends_with_line = self._ends_with_line or line.startswith(b"data:")
                self._end_event(events)
            if line.startswith(b"data: "):  # a shortcut for nearly every line
                self._data.append(line[6:].decode("utf-8", "replace"))
            elif goes_on or (self._is_tolerant and line.startswith(b"{")):
                self._is_bare = True
                self._data.append(line.decode("utf-8", "replace"))
            else:
                name, _, value = line.partition(b":")
                self._field(name, value.removeprefix(b" "))
            if self._ends_with_line and self._data:
                self._end_event(events)

    def _goes_on(self, line: bytes) -> bool:
        """Return True for a further line of the JSON value, after a first one without `data:`."""
        return not _FIELD.match(line) and (len(self._data) > 1 or not is_whole(self._data[0]))

    def _end_event(self, events: list[Event]) -> None:
        if self._data:
            data = "\n".join(self._data)
            events.append(Event(data, self._event or "message", self._id))
            self._data.clear()
        self._event = ""
        self._size = 0
        self._is_bare = False

    def _field(self, name: bytes, value: bytes) -> None:
        # An empty name marks a comment. Others are ignored, such as the time to reconnect: nobody does.
        if name == b"error" and self._is_tolerant:
            name, self._event = b"data", "error"
        if name == b"data":
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")


def is_whole(data: str) -> bool:
    """Return True if the data is an event of its own, and not the first line of a JSON value."""
    if data.strip() in ("", "[DONE]"):
        return True
    try:
        json.loads(data, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def dumps(value: Any) -> str:
    """Return compact JSON in one line, even for clients that split lines at U+2028 and U+0085."""
    text = _to_json(value)
    if not text.isascii():
        for splitter, escaped in _SPLITTERS:  # `translate` takes a hundred times as long
            text = text.replace(splitter, escaped)
    return text


def encode(data: str, *, event: str = "", id: str = "") -> bytes:  # noqa: A002 (the field's own name)
    """Encode one event.

    Line ends in `data`, of any kind, reach the client as line feeds. A lone surrogate, which UTF-8 cannot
    encode, becomes its JSON escape. Raises ValueError if `event` or `id` contains a line end, or `id` a NUL,
    because the client could not read them back.
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
    """Encode the time that the client waits before it reconnects."""
    return b"retry: %d\n\n" % milliseconds


def _one_line(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise ValueError("an event's name and id cannot hold a line end")
    return value


class JsonDecoder:
    """A decoder from chunks of any size to events, in place of `sse.Decoder`. Raises LineTooLong.

    Unless the first line is a whole value, the body is one value with line breaks in it.
    """

    def __init__(self) -> None:
        self.values = 0
        self._is_one_value = False
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[Event]:
        self._pieces.append(chunk)
        self._size += len(chunk)
        if b"\n" not in chunk or self._is_one_value:
            if self._size > MAX_JSON_BYTES:
                raise LineTooLong(f"a JSON value is longer than {MAX_JSON_BYTES:,} bytes")
            return []
        *lines, rest = b"".join(self._pieces).split(b"\n")
        events = []
        for number, line in enumerate(lines):
            data = _data(line)
            if data and not is_whole(data) and not self.values:
                self._is_one_value = True
                rest = b"\n".join([*lines[number:], rest])
                break
            events += self._events(data)
        self._pieces, self._size = [rest], len(rest)
        return events

    def close(self) -> list[Event]:
        """Return the last value. It may be cut off, and is no event then."""
        data = _data(b"".join(self._pieces))
        self._pieces.clear()
        return [event._replace(unfinished=True) for event in self._events(data)]

    def _events(self, data: str) -> list[Event]:
        self.values += bool(data)
        return [Event(data)] if data else []


def _data(line: bytes) -> str:
    """Return a line as text, also where it is a line of an event stream after all."""
    return line.strip().removeprefix(b"data:").strip().decode("utf-8", "replace")
