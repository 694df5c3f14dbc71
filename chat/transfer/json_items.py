"""Split a large JSON file into its objects: the items of one array, or objects one after another.

Only one object is in memory at a time. This module only finds its end; `strict_json` parses it.
"""

import re
from collections.abc import Iterator
from typing import IO

from .problems import FileProblem

CHUNK_BYTES = 262_144
MAX_ITEM_BYTES = 16 * 1_048_576  # of one conversation; parsing that much holds the GIL for 0.2 s
MAX_ITEM_DEPTH = 500  # Python's parser recurses, and fails at about twice this depth
BOM = b"\xef\xbb\xbf"
SEPARATORS = b" \t\r\n,"
_STRUCTURE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')


class Unreadable:
    """Placeholder for an object that is too large or nested too deeply.

    `code` is a key of `problems.CONVERSATION_PROBLEMS`.
    """

    def __init__(self, code: str) -> None:
        self.code = code


def items(file: IO[bytes]) -> Iterator[bytes | Unreadable]:
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
        self._stack = 0  # depth in the current object; 0 between objects
        self._deepest = 0
        self._in_array: bool | None = None  # None before the first bracket
        self._ended = False  # True after the end of the array
        self._in_string = self._skip = False
        self._item = bytearray()
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | Unreadable]:
        start = 0  # of the bytes that are not processed yet
        position = int(self._skip)
        self._skip = False
        while found := (_IN_STRING if self._in_string else _STRUCTURE).search(chunk, position):
            position, mark = found.end(), found[0]
            if self._in_string:
                if mark == b"\\":
                    position += 1  # the next byte is escaped
                else:
                    self._in_string = False
            elif self._stack == 0:
                self._between(chunk[start : found.start()], mark)
                start = found.start() if self._stack else position
            elif mark == b'"':
                self._in_string = True
            elif mark in b"{[":
                self._stack += 1
                self._deepest = max(self._deepest, self._stack)
            else:
                self._stack -= 1
                if not self._stack:
                    self._add(chunk[start:position])
                    start = position
                    yield self._take()
        self._skip = position > len(chunk)
        if self._stack:
            self._add(chunk[start:])
        else:
            self._between(chunk[start:], b"")

    def close(self) -> None:
        """Raise FileProblem if the file ended too early."""
        if self._in_array is None:
            raise FileProblem("not_json")
        if self._stack or (self._in_array and not self._ended):
            raise FileProblem("damaged")

    def _between(self, text: bytes, mark: bytes) -> None:
        """Check the text between two objects, and the bracket after it. Raises FileProblem."""
        if text.strip(SEPARATORS) or (mark and self._ended):
            raise FileProblem("not_json" if self._in_array is None else "no_conversations")
        if mark == b"{":
            self._in_array = bool(self._in_array)
            self._stack = self._deepest = 1
        elif mark == b"[" and self._in_array is None:
            self._in_array = True
        elif mark == b"]" and self._in_array:
            self._ended = True
        elif mark:
            raise FileProblem("not_json" if self._in_array is None else "no_conversations")

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= MAX_ITEM_BYTES:
            self._item += piece

    def _take(self) -> bytes | Unreadable:
        item, size, deepest = bytes(self._item), self._size, self._deepest
        self._item, self._size = bytearray(), 0
        if size > MAX_ITEM_BYTES:
            return Unreadable("large")
        return Unreadable("deep") if deepest > MAX_ITEM_DEPTH else item
