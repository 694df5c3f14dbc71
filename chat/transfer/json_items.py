"""Split a large JSON file into its objects: the items of one array, or objects one after another.

Only one object is in memory at a time, and nothing of one that is too large. This module only finds its end;
`strict_json` parses it.
"""

import re
from collections.abc import Iterator
from typing import IO

from .problems import FileProblem

CHUNK_BYTES = 262_144
MAX_ITEM_BYTES = 64 * 1_048_576  # of one conversation, with the pictures in its texts
MAX_ITEM_MARKS = 4_000_000  # brackets, strings and commas of one conversation, for the memory of its values
# Of all objects of the file that are too large. They take 3 s, and no real conversation has as many.
MAX_SKIPPED_MARKS = 6_000_000
MAX_ITEM_DEPTH = 500  # Python's parser recurses, and fails at about twice this depth
BOM = b"\xef\xbb\xbf"
SEPARATORS = b" \t\r\n,"
_STRUCTURE = re.compile(rb'["{}\[\],]')
_REST_OF_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)  # up to its quote, or the end of the chunk


class Oversized:
    """Placeholder for an object that is too large or nested too deeply.

    `code` is a key of `problems.CONVERSATION_PROBLEMS`.
    """

    def __init__(self, code: str) -> None:
        self.code = code


def items(file: IO[bytes]) -> Iterator[bytes | Oversized]:
    """Yield each object. Raises FileProblem if the file is not JSON, has other values, or ends early."""
    splitter = _Splitter()
    is_first = True
    while chunk := file.read(CHUNK_BYTES):
        yield from splitter.feed(chunk.removeprefix(BOM) if is_first else chunk)
        is_first = False
    splitter.close()


class _Splitter:
    """A push parser: `feed` takes chunks of any size and yields the objects that are complete."""

    def __init__(self) -> None:
        self._depth = 0  # in the current object; 0 between objects
        self._deepest = 0
        self._in_array: bool | None = None  # None before the first bracket
        self._ended = False  # True after the end of the array
        self._in_string = self._in_escape = False
        self._item = bytearray()
        self._size = self._marks = self._skipped = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | Oversized]:
        start = 0  # of the bytes that are not processed yet
        position, self._in_escape = int(self._in_escape), False
        if self._in_string:
            position = self._end_of_string(chunk, position)
        while found := _STRUCTURE.search(chunk, position):
            position, mark = found.end(), found[0]
            self._marks += 1
            if self._depth == 0:
                if mark != b",":
                    self._between(chunk[start : found.start()], mark)
                    start = found.start() if self._depth else position
            elif mark == b'"':
                position = self._end_of_string(chunk, position)
            elif mark in b"{[":
                self._depth += 1
                self._deepest = max(self._deepest, self._depth)
            elif mark != b",":
                self._depth -= 1
                if not self._depth:
                    self._add(chunk[start:position])
                    start = position
                    yield self._take()
        if self._depth:
            self._add(chunk[start:])
        else:
            self._between(chunk[start:], b"")

    def _end_of_string(self, chunk: bytes, position: int) -> int:
        """Return where the string ends, or the chunk."""
        rest = _REST_OF_STRING.match(chunk, position)
        assert rest
        end = rest.end()
        self._in_string = chunk[end : end + 1] != b'"'
        self._in_escape = self._in_string and end < len(chunk)  # at a backslash, which escapes a byte to come
        return len(chunk) if self._in_string else end + 1

    def close(self) -> None:
        """Raise FileProblem if the file ended too early."""
        if self._in_array is None:
            raise FileProblem("not_json")
        if self._depth or (self._in_array and not self._ended):
            raise FileProblem("damaged")

    def _between(self, text: bytes, mark: bytes) -> None:
        """Check the text between two objects, and the bracket after it. Raises FileProblem."""
        if text.strip(SEPARATORS) or (mark and self._ended):
            raise FileProblem("not_json" if self._in_array is None else "no_conversations")
        if mark == b"{":
            self._in_array = bool(self._in_array)
            self._depth = self._deepest = 1
            self._marks = 1
        elif mark == b"[" and self._in_array is None:
            self._in_array = True
        elif mark == b"]" and self._in_array:
            self._ended = True
        elif mark:
            raise FileProblem("not_json" if self._in_array is None else "no_conversations")

    @property
    def _is_large(self) -> bool:
        return self._size > MAX_ITEM_BYTES or self._marks > MAX_ITEM_MARKS

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._item += piece
        if self._is_large:
            self._item.clear()
            if self._skipped + self._marks > MAX_SKIPPED_MARKS:
                raise FileProblem("object")

    def _take(self) -> bytes | Oversized:
        item: bytes | Oversized = bytes(self._item)
        if self._is_large:
            item = Oversized("large")
            self._skipped += self._marks
        elif self._deepest > MAX_ITEM_DEPTH:
            item = Oversized("deep")
        self._item, self._size, self._marks = bytearray(), 0, 0
        return item
