"""A decoder for bodies of JSON in place of a stream: one value, or one in each line (NDJSON)."""

from chat.wire.sse import Event, LineTooLong, is_whole

MAX_JSON_BYTES = 4_000_000


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
        """Return the events that `chunk` completes."""
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
