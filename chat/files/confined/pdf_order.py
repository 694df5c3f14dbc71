"""The order in which a page of a PDF is read: that in which it is drawn, unless there are columns or tables.

Tables that a row of heads tells come first, with columns around them. Without such, columns of the whole page
are looked for, then rows of cells between its prose.
"""

import re
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby, pairwise

from .pdf_columns import MAX_PIECES, MIN_LINES, arranged, gutters
from .pdf_pieces import GAP, pieces
from .pdf_tables import MIN_HEADS, MIN_ROWS, Row, cells, headed_tables
from .pdf_text import Box, PageText

NEAR_ROWS = 20  # below a head: that many lines hold the first rows
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def reading_order(text: PageText) -> Iterable[int | str]:
    """Return the numbers of the characters, with line feeds and tabs between pieces that are moved."""
    unchanged = range(len(text.characters))
    if RIGHT_TO_LEFT.search("".join(text.characters)):
        return unchanged
    boxes = list(text.string_boxes())
    if len(boxes) > MAX_PIECES:
        return _unheaded(text, boxes)
    tables = list(headed_tables(list(pieces(text, text.lines)))) if _may_have_heads(boxes) else []
    return list(_around_tables(text, tables)) if tables else _unheaded(text, boxes)


def _may_have_heads(boxes: list[Box]) -> bool:
    counted = [_cells(row) for row in _rows(boxes)]
    return any(
        cells >= MIN_HEADS and sum(below > 1 for below in counted[row + 1 : row + NEAR_ROWS]) >= MIN_ROWS
        for row, cells in enumerate(counted)
    )


def _around_tables(text: PageText, tables: list[list[Row]]) -> Iterator[int | str]:
    """Return the tables, each where the page draws the first of it, and what stands between them."""
    of = {number: table for table in tables for row in table for _, piece in row for number in piece.numbers}
    done: list[list[Row]] = []
    for table, run in groupby(range(len(text.characters)), of.get):
        numbers = list(run)
        if table is None:
            yield from _stretch(text, range(numbers[0], numbers[-1] + 1))
        elif not any(table is each for each in done):
            done.append(table)
            if numbers[0] and text.characters[numbers[0] - 1] not in "\r\n":
                yield "\n"
            for cell in (each for row in table for each in cells(row)):
                yield from [cell] if isinstance(cell, str) else cell.numbers


def _stretch(text: PageText, numbers: range) -> Iterable[int | str]:
    """Return the order of what stands before, between or behind tables."""
    lines = [line for line in text.lines if line[0].start < numbers.stop and numbers.start < line[0].stop]
    lines = [
        (range(max(line.start, numbers.start), min(line.stop, numbers.stop)), box) for line, box in lines
    ]
    found = gutters(box for _, box in lines)
    return (arranged(text, lines, found) if found else None) or numbers


def _unheaded(text: PageText, boxes: list[Box]) -> Iterable[int | str]:
    found = gutters(boxes)
    whole = arranged(text, text.lines, found) if found else None
    return whole or (
        list(_with_tables(text, boxes)) if len(boxes) <= MAX_PIECES else range(len(text.characters))
    )


def _with_tables(text: PageText, boxes: list[Box]) -> Iterator[int | str]:
    done = 0
    for zone in _zones(boxes):
        inside = [number for number, (_, extent) in enumerate(text.lines) if _holds(zone, extent)]
        found = gutters(box for box in boxes if _holds(zone, box))
        if not (found and inside):  # a zone of spaces has no lines
            continue
        if inside != list(range(inside[0], inside[-1] + 1)):  # drawn with what is around it
            continue
        lines = text.lines[inside[0] : inside[-1] + 1]
        start, stop = lines[0][0].start, lines[-1][0].stop
        order = arranged(text, lines, found) if start >= done else None
        if order:
            yield from range(done, start)
            yield from order
            done = stop
    yield from range(done, len(text.characters))


def _zones(boxes: list[Box]) -> Iterator[Box]:
    """Return where rows with several cells stand below each other."""
    counted = [(row, _cells(row)) for row in _rows(boxes)]
    for is_table, run in groupby(counted, lambda each: each[1] > 1):
        zone = list(run)
        if is_table and sum(cells > 2 for _, cells in zone) >= MIN_LINES:
            yield reduce(Box.joined, (box for row, _ in zone for box in row))


def _rows(boxes: list[Box]) -> list[list[Box]]:
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: -box.middle[1]):
        if rows and box.shares_line(rows[-1][0]):
            rows[-1].append(box)
        else:
            rows.append([box])
    return rows


def _cells(row: list[Box]) -> int:
    row = sorted(row)
    return 1 + sum(other.left - one.right > GAP * one.height for one, other in pairwise(row))


def _holds(zone: Box, box: Box) -> bool:
    return zone.bottom < box.middle[1] < zone.top
