"""The parts of the lines of a page of a PDF: words, cells of a table, raised and lowered characters."""

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pypdfium2 import raw

from .html_elements import SCRIPTS, script
from .pdf_text import NO_BREAK, Box, PageText

OVERHANG_POINTS = 12  # of a title, into both columns; a line that is a little too long stays in its own
GAP = 0.6  # between two pieces of a line, in heights of a character; more than a space of justified text
# In heights of the character before it: the height of a raised or lowered one, and its distance from that.
MIN_SIZE, MAX_SIZE, MAX_GAP = 0.4, 0.85, 0.4
RISES = {"sup": (0.15, 0.6), "sub": (-0.5, -0.06)}  # of the baseline, likewise


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line. `numbers`: of its characters."""

    numbers: range
    box: Box
    text: str


Lines = list[list[Piece]]


def pieces(
    text: PageText, lines: Iterable[tuple[range, Box]], gutters: list[float] | None = None
) -> Iterator[Piece]:
    """Return the parts of lines as they are drawn; with `gutters`, only of those that cross one."""
    for uncut, extent in lines:
        line = text.stripped(uncut)  # what a table has cut may begin or end with spaces
        if not line:
            continue
        # PDFium joins short strings below each other.
        is_flat = extent.height < 1.5 * text.box(line[0]).height
        if is_flat and gutters is not None and not any(crosses(extent, gutter) for gutter in gutters):
            yield _piece(text, line, extent)
            continue
        start, before = line[0], text.box(line[0])
        for number in line:
            if number == start or text.characters[number].isspace():
                continue
            box = text.box(number)
            gap = GAP * max(before.height, box.height)
            is_apart = box.left - before.right > gap or before.left - box.right > gap
            if is_apart or not box.shares_line(before):
                yield _piece(text, range(start, number))
                start = number
            before = box
        yield _piece(text, range(start, line[-1] + 1))


def _piece(text: PageText, numbers: range, box: Box | None = None) -> Piece:
    numbers = text.stripped(numbers)
    return Piece(numbers, box or text.extent(numbers), "".join(text.characters[numbers.start : numbers.stop]))


def crosses(box: Box, gutter: float) -> bool:
    return box.left < gutter - OVERHANG_POINTS and box.right > gutter + OVERHANG_POINTS


def in_rows(pieces: Iterable[Piece]) -> Lines:
    """Return the pieces by lines from the top, each from the left."""
    lines: Lines = []
    for piece in sorted(pieces, key=lambda piece: -piece.box.middle[1]):
        if lines and piece.box.shares_line(lines[-1][0].box):
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [sorted(line, key=lambda piece: piece.box.left) for line in lines]


def write_scripts(text: PageText) -> None:
    """Write the digits of exponents, notes and indices as such, in the page's characters.

    Only size and baseline tell them from others.
    """
    base: tuple[Box, int] | None = None  # what is neither raised nor lowered, and its number
    found: list[int] = []
    name, right = "", 0.0
    for number, character in enumerate([*text.characters, "\n"]):
        is_space = character.isspace()
        box = None if is_space else text.box(number)
        told = _told(text, number, box, base, right) if box and base else ""
        if found and told != name:
            _write(text, found, name)
            found = []
        if told:
            name = told
            found.append(number)
        elif box:
            base, name = (box, number), ""
        elif character in "\r\n" or (name and character != NO_BREAK):  # behind a raised one
            base = None
        right = box.right if box else right


def _told(text: PageText, number: int, box: Box, base: tuple[Box, int], right: float) -> str:
    """Return "sup", "sub" or "" for a character. `right`: where the one before it ends."""
    height = base[0].height
    if (
        not 0 < MIN_SIZE * height <= box.height <= MAX_SIZE * height
        or abs(box.left - right) > MAX_GAP * height
    ):
        return ""
    rise = (_baseline(text, number) - _baseline(text, base[1])) / height
    return next((name for name, (least, most) in RISES.items() if least <= rise <= most), "")


def _baseline(text: PageText, number: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text.handle, number, x, y)
    return text.shown(x.value, y.value, x.value, y.value).bottom


def _write(text: PageText, numbers: list[int], name: str) -> None:
    plain = "".join(text.characters[number] for number in numbers)
    written = script(plain, *SCRIPTS[name])
    if len(written) == len(plain):
        text.characters[numbers[0] : numbers[-1] + 1] = written
    elif written != plain:  # one entry for each character
        before, _plain, after = written.partition(plain)
        text.characters[numbers[0]] = before + plain[0]
        text.characters[numbers[-1]] += after
