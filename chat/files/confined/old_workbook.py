"""The sheets of a workbook of Excel 97 to 2003 ([MS-XLS], BIFF8), like those of newer ones."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from .containers import Container
from .fonts import PLAIN, Font, Rich, font_of, in_font
from .number_codes import BUILT_IN, GENERAL, shown
from .problem import Problem
from .sheet_table import NOT_CALCULATED, Sheet, tables

BOF, EOF, CONTINUE, BIFF8 = 0x809, 0x0A, 0x3C, 0x0600
FILEPASS, DATEMODE, BOUNDSHEET, SST, FONT, FORMAT, XF = 0x2F, 0x22, 0x85, 0xFC, 0x31, 0x41E, 0xE0
STRUCK_OUT, RAISED = 0x8, {1: "superscript", 2: "subscript"}  # of a font
LABELSST, LABEL, NUMBER, RK, MULRK = 0xFD, 0x204, 0x203, 0x27E, 0xBD
FORMULA, STRING, BOOLERR = 0x06, 0x207, 0x205
BLANK = 3  # the kind of a formula's value, if it is ""
ROW, COLINFO, MERGEDCELLS, NOTE, OBJ, TXO = 0x208, 0x7D, 0xE5, 0x1C, 0x5D, 0x1B6
ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
}
HISTORY = slice(12, 16)  # of the first record: what programs have saved the file, flags that Excel sets
MAX_CHARACTERS = 8_000_000

Record = tuple[int, list[bytes]]  # its type, and its data with what continues it


@dataclass(slots=True)
class _Book:
    """The parts that the sheets share. `sheets`: name, place and whether it is hidden.

    `is_calculated`: a program with a calculation has saved it; xlwt stores the text "" for each formula.
    """

    sheets: list[tuple[str, int, bool]] = field(default_factory=list)
    texts: list[Rich] = field(default_factory=list)
    fonts: list[Font] = field(default_factory=list)
    codes: dict[int, str] = field(default_factory=lambda: dict(BUILT_IN))
    styles: list[tuple[int, int]] = field(default_factory=list)  # the numbers of a font and of a code
    is_1904: bool = False
    is_calculated: bool = True
    characters: int = 0

    def number(self, value: float, style: int) -> str:
        code = self.codes.get(self.styles[style][1], GENERAL) if style < len(self.styles) else GENERAL
        return shown(value, code, self.is_1904).strip()

    def font(self, number: int) -> Font:
        place = number - (number > 4)  # there is none of number 4
        return self.fonts[place] if place < len(self.fonts) else PLAIN

    def font_of_style(self, style: int) -> Font:
        return self.font(self.styles[style][0]) if style < len(self.styles) else PLAIN


def old_workbook_pages(content: bytes) -> Iterator[str] | None:
    """Return the sheets, each under its name; None for a workbook of an older format."""
    stream = Container(content).stream("workbook")
    if len(stream) < 6 or struct.unpack_from("<HxxH", stream) != (BOF, BIFF8):
        return None
    return _pages(stream)


def _pages(stream: bytes) -> Iterator[str]:
    book = _book(stream)
    for name, place, is_hidden in book.sheets:
        if text := "\n\n".join(tables(_Cells(book).read(stream, place))):
            yield f"## {name}{' (hidden)' if is_hidden else ''}\n\n{text}"


def _records(stream: bytes, place: int) -> Iterator[Record]:
    """Return the records from a place on, up to the end of what begins there, without charts inside."""
    depth, kept = 0, None
    while place + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, place)
        data = stream[place + 4 : place + 4 + size]
        place += 4 + size
        if kind == CONTINUE and kept:
            kept[1].append(data)
            continue
        if kept:
            yield kept
        kept = (kind, [data]) if depth == 1 else None
        depth += (kind == BOF) - (kind == EOF)
        if depth < 1:
            return


def _book(stream: bytes) -> _Book:
    book = _Book(is_calculated=stream[HISTORY] != bytes(4))
    for kind, parts in _records(stream, 0):
        data = parts[0]
        if kind == FILEPASS:
            raise Problem("encrypted")
        if kind == DATEMODE:
            book.is_1904 = data[:1] == b"\x01"
        elif kind == FORMAT:
            book.codes[struct.unpack_from("<H", data)[0]] = _Texts([data[2:]]).text()
        elif kind == FONT:
            flags, raised = struct.unpack_from("<2xH4xH", data)
            name = _Texts([data[15:]]).characters(data[14])
            book.fonts.append(font_of(name, bool(flags & STRUCK_OUT), RAISED.get(raised, "")))
        elif kind == XF:
            book.styles.append(struct.unpack_from("<HH", data))
        elif kind == SST:
            texts = _Texts([data[8:], *parts[1:]])
            book.texts = [
                texts.rich(book) for _ in range(struct.unpack_from("<I", data, 4)[0]) if not texts.is_at_end
            ]
        elif kind == BOUNDSHEET and data[5] == 0:
            place, state, length = struct.unpack_from("<IBxB", data)
            name = _Texts([data[7:]]).characters(length)
            book.sheets.append((name, place, state & 3 != 0))
    return book


class _Texts:
    """Strings one after another, which the records that continue it may divide anywhere."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts, self._index, self._at = parts, 0, 0
        self._runs = b""

    @property
    def is_at_end(self) -> bool:
        return self._index >= len(self._parts) - 1 and self._at >= len(self._parts[-1])

    def text(self) -> str:
        """Return the next string, without its runs of fonts and its readings."""
        return self.characters(*struct.unpack("<H", self._take(2)))

    def rich(self, book: _Book) -> Rich:
        """Return the next string in its fonts: those from a place on, in 16-bit units."""
        text = self.text()
        if not self._runs:
            return text
        units, runs = text.encode("utf-16-le"), [(0, None), *struct.iter_unpack("<HH", self._runs)]
        ends = [start for start, _ in runs[1:]] + [len(units)]
        return tuple(
            (
                units[2 * start : 2 * end].decode("utf-16-le", "replace"),
                None if font is None else book.font(font),
            )
            for (start, font), end in zip(runs, ends, strict=True)
        )

    def characters(self, length: int) -> str:
        flags = self._take(1)[0]
        runs = struct.unpack("<H", self._take(2))[0] if flags & 8 else 0
        readings = struct.unpack("<I", self._take(4))[0] if flags & 4 else 0
        found = ""
        while True:
            width = 1 + (flags & 1)
            rest = self._parts[self._index][self._at : self._at + (length - len(found)) * width]
            self._at += len(rest)
            found += rest.decode("utf-16-le" if width == 2 else "latin-1", "surrogatepass")
            if len(found) >= length or self._index + 1 >= len(self._parts):
                break
            self._index, self._at = self._index + 1, 0
            flags = self._take(1)[0]
        self._runs = self._take(4 * runs)
        self._take(readings)
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _take(self, size: int) -> bytes:
        found = b""
        while True:
            found += (rest := self._parts[self._index][self._at : self._at + size - len(found)])
            self._at += len(rest)
            if len(found) == size or self._index + 1 >= len(self._parts):
                return found
            self._index, self._at = self._index + 1, 0


class _Cells:
    def __init__(self, book: _Book) -> None:
        self._book, self._sheet = book, Sheet()
        self._waiting = (0, 0, 0)  # row, column and style of the formula whose text follows
        self._object, self._notes = 0, dict[int, str]()

    def read(self, stream: bytes, place: int) -> Sheet:
        for kind, parts in _records(stream, place):
            data = parts[0]
            if kind in (LABELSST, LABEL, NUMBER, RK, FORMULA, BOOLERR):
                row, column, style = struct.unpack_from("<HHH", data)
                self._put(row, column, style, self._text(kind, data[6:], style, (row, column, style)))
            elif kind == MULRK:
                row, first = struct.unpack_from("<HH", data)
                for at in range((len(data) - 6) // 6):
                    style, number = struct.unpack_from("<Hi", data, 4 + 6 * at)
                    self._put(row, first + at, style, self._book.number(_rk(number), style))
            elif kind == STRING:
                self._put(*self._waiting, _Texts(parts).text())
            else:
                self._around(kind, parts)
        return self._sheet

    def _put(self, row: int, column: int, style: int, value: Rich) -> None:
        text = NOT_CALCULATED if value == NOT_CALCULATED else in_font(value, self._book.font_of_style(style))
        if text:
            self._book.characters += len(text) + 3
            if self._book.characters > MAX_CHARACTERS:
                raise Problem("long")
            self._sheet.rows.setdefault(row + 1, {})[column + 1] = text

    def _text(self, kind: int, data: bytes, style: int, place: tuple[int, int, int]) -> Rich:
        if kind == LABELSST:
            (index,) = struct.unpack_from("<I", data)
            return self._book.texts[index] if index < len(self._book.texts) else ""
        if kind == LABEL:
            return _Texts([data]).text()
        if kind == RK:
            return self._book.number(_rk(*struct.unpack_from("<i", data)), style)
        if kind == BOOLERR:
            return _flag(data[0], data[1])
        if kind == FORMULA and data[6:8] == b"\xff\xff":
            self._waiting = place
            if data[0] in (1, 2):
                return _flag(data[2], data[0] - 1)
            return NOT_CALCULATED if data[0] == BLANK and not self._book.is_calculated else ""
        return self._book.number(struct.unpack_from("<d", data)[0], style)

    def _around(self, kind: int, parts: list[bytes]) -> None:
        """Read what is said of rows, columns and cells."""
        data, sheet = parts[0], self._sheet
        if kind == ROW and struct.unpack_from("<I", data, 12)[0] & 0x20:
            sheet.hidden_rows.add(struct.unpack_from("<H", data)[0] + 1)
        elif kind == COLINFO and struct.unpack_from("<H", data, 8)[0] & 1:
            first, last = struct.unpack_from("<HH", data)
            sheet.hidden_columns.append(range(first + 1, last + 2))
        elif kind == MERGEDCELLS:
            for at in range(struct.unpack_from("<H", data)[0]):
                top, bottom, left, right = struct.unpack_from("<HHHH", data, 2 + 8 * at)
                sheet.merged.append((range(top + 1, bottom + 2), range(left + 1, right + 2)))
        elif kind == OBJ:
            (self._object,) = struct.unpack_from("<H", data, 6)
        elif kind == TXO and len(parts) > 1:
            self._notes[self._object] = (
                _Texts(parts[1:2]).characters(*struct.unpack_from("<H", data, 10)).strip()
            )
        elif kind == NOTE and (note := self._notes.get(struct.unpack_from("<H", data, 6)[0])):
            row, column = struct.unpack_from("<HH", data)
            sheet.notes.append((row + 1, column + 1, f"[note: {note}]"))


def _rk(number: int) -> float:
    """Return a number of 30 bits: an integer, or the upper half of a double."""
    value = (
        float(number >> 2)
        if number & 2
        else struct.unpack("<d", struct.pack("<iI", 0, number & 0xFFFFFFFC))[0]
    )
    return float(value / 100 if number & 1 else value)


def _flag(value: int, is_error: int) -> str:
    return ERRORS.get(value, "#N/A") if is_error else ("TRUE" if value else "FALSE")
