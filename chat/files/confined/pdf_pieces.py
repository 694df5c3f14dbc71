"""The parts of the lines of a page of a PDF: words of prose, or a cell of a table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .pdf_text import Box, PageText

OVERHANG_POINTS = 12  # of a title, into both columns; a line that is a little too long stays in its own
GAP = 0.6  # between two pieces of a line, in heights of a character; more than a space of justified text


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
    for line, extent in lines:
        is_flat = (
            extent.height < 1.5 * text.box(line[0]).height
        )  # PDFium joins short strings below each other
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
    while text.characters[numbers[-1]].isspace():
        numbers = numbers[:-1]
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
