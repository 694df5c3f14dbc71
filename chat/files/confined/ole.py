"""The streams of an OLE container, in which Office wrote until 2003 ([MS-CFB])."""

import struct
from collections.abc import Iterator

LAST_SECTOR = 0xFFFFFFFA  # higher numbers are marks: free, end of a chain
ENTRY_BYTES = 128


class Container:
    """Raises `struct.error` and ValueError for broken ones."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        shift, small_shift = struct.unpack_from("<HH", content, 30)
        if shift not in (9, 12) or small_shift != 6:
            raise ValueError("no OLE container")
        self._size, self._small_size = 1 << shift, 1 << small_shift
        (first,) = struct.unpack_from("<I", content, 48)
        self._least, small_table = struct.unpack_from("<II", content, 56)
        self._table = self._numbers(self._table_sectors())
        self._small_table = self._numbers(self._chain(small_table, self._table))
        self._entries = dict(self._read_entries(self._joined(self._chain(first, self._table))))
        self._small = self._large(*self._entries["root entry"]) if "root entry" in self._entries else b""

    def stream(self, name: str) -> bytes:
        """Return a stream by its name in lower case; b"" if there is none."""
        if name not in self._entries:
            return b""
        start, size = self._entries[name]
        if size >= self._least:
            return self._large(start, size)
        step = self._small_size
        return b"".join(
            self._small[at * step : (at + 1) * step] for at in self._chain(start, self._small_table)
        )[:size]

    def _sector(self, number: int) -> bytes:
        return self._content[(number + 1) * self._size : (number + 2) * self._size]

    def _joined(self, sectors: Iterator[int]) -> bytes:
        return b"".join(map(self._sector, sectors))

    def _large(self, start: int, size: int) -> bytes:
        return self._joined(self._chain(start, self._table))[:size]

    def _numbers(self, sectors: Iterator[int]) -> list[int]:
        found = self._joined(sectors)
        return list(struct.unpack(f"<{len(found) // 4}I", found[: len(found) // 4 * 4]))

    def _table_sectors(self) -> Iterator[int]:
        yield from (each for each in struct.unpack_from("<109I", self._content, 76) if each < LAST_SECTOR)
        (number,) = struct.unpack_from("<I", self._content, 68)
        for _ in range(len(self._content) // self._size):
            if number >= LAST_SECTOR:
                return
            *sectors, number = self._numbers(iter([number]))
            yield from (each for each in sectors if each < LAST_SECTOR)

    @staticmethod
    def _chain(number: int, table: list[int]) -> Iterator[int]:
        for _ in range(len(table)):  # a chain in a loop ends
            if number >= len(table):
                return
            yield number
            number = table[number]

    @staticmethod
    def _read_entries(folder: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
        for at in range(0, len(folder) - ENTRY_BYTES + 1, ENTRY_BYTES):
            length, kind = struct.unpack_from("<HB", folder, at + 64)
            if kind:
                name = folder[at : at + min(max(length - 2, 0), 64)].decode("utf-16-le", "replace").lower()
                yield name, struct.unpack_from("<II", folder, at + 116)
