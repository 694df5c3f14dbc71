"""Tables of a page of a PDF that are told by a row of heads, whatever cells below them are empty.

A cell belongs to the head that it stands under. Cells under none belong with those that they stand under or
over, and may be of a column without a head. Where that leaves a doubt, no table is told.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median

from .pdf_pieces import Lines, Piece, in_rows
from .pdf_text import Box

MIN_HEADS, MIN_ROWS, MAX_CELL_WORDS = 3, 3, 4
MAX_STEP = 6  # between two rows, in heights of a head
WRAPPED, HEADS = 1.5, 2  # likewise: the most to a further line of a cell, of heads
MAX_ACROSS = 2  # lines below each other that cross the columns: subtitles, sums
TOUCHING_POINTS, ALIGNED_POINTS = 1, 3
MIN_ALIGNED = 0.7  # of the cells have an edge or the middle where others of their column have it
MAX_DOUBLE = 0.2  # of the rows, with two pieces in one column
MAX_FAILURES = 40  # the time grows with them
MAX_PLACE_POINTS = 10_000

Row = list[tuple[int, Piece]]  # each with the number of its column
Span = tuple[float, float]


def headed_tables(pieces: list[Piece]) -> Iterator[list[Row]]:
    """Return the rows of each table from the top."""
    if not all(-MAX_PLACE_POINTS < piece.box.left <= piece.box.right < MAX_PLACE_POINTS for piece in pieces):
        return
    rows, done, start, failures = in_rows(pieces), 0, 0, 0
    while start < len(rows) and failures < MAX_FAILURES:
        if len(rows[start]) < MIN_HEADS or not _are_short(rows[start]):
            start += 1
            continue
        columns, body = _table(rows[start], _below(rows, start))
        if columns:
            yield [*_above(rows[done:start], rows[start], columns), *_placed(rows[start], body, columns)]
            done = start + 1 + len(body)
        failures += not columns
        start = max(start + 1, done)


def cells(row: Row) -> Iterator[str | Piece]:
    """Return a row with a tab for each column that it passes."""
    column = 0
    for number, (place, piece) in enumerate(row):
        yield "\t" * (place - column) or (" " if number else "")
        yield piece
        column = place
    yield "\n"


def _are_short(row: list[Piece]) -> bool:
    return all(len(piece.text.split()) <= MAX_CELL_WORDS for piece in row)


def _below(rows: Lines, start: int) -> Lines:
    """Return the rows down to a wide space or to prose."""
    heads, across, found = rows[start], 0, []
    for upper, row in pairwise(rows[start:]):
        across = across + 1 if _is_across(row, heads) else 0
        if across > MAX_ACROSS or _step(upper, row) > MAX_STEP * heads[0].box.height:
            break
        found.append(row)
    return found


def _above(rows: Lines, heads: list[Piece], columns: list[list[Piece]]) -> list[Row]:
    """Return the rows that belong to the heads: their first lines, heads of several columns."""
    spans = [(min(map(_left, column)), max(piece.box.right for piece in column)) for column in columns]
    found: list[Row] = []
    lower = heads
    for row in reversed(rows):
        over = [_over(piece.box, spans) for piece in row]
        is_near = _step(row, lower) <= HEADS * heads[0].box.height
        if len(row) < 2 or not is_near or not all(over) or not _are_short(row):
            break
        found.insert(0, [(places[0], piece) for places, piece in zip(over, row, strict=True)])
        lower = row
    return found


def _placed(heads: list[Piece], body: Lines, columns: list[list[Piece]]) -> list[Row]:
    places = {piece.numbers[0]: number for number, column in enumerate(columns) for piece in column}
    return [[(places.get(piece.numbers[0], 0), piece) for piece in row] for row in (heads, *body)]


def _table(heads: list[Piece], body: Lines) -> tuple[list[list[Piece]], Lines]:
    """Return the columns and the rows below the heads; nothing if they are no table."""
    across = [_is_across(row, heads) for row in body]
    body = _trimmed(heads, body, across)
    loose = [piece for row, is_across in zip(body, across, strict=False) if not is_across for piece in row]
    if len(body) < MIN_ROWS or median(len(piece.text.split()) for piece in loose) > MAX_CELL_WORDS:
        return [], []
    columns = _columns(heads, loose)
    if not columns or not _is_aligned(columns) or _is_drawn_by_columns(columns):
        return [], []
    rows = _placed(heads, body, columns)[1:]
    filled = [len({place for place, _ in row}) for row in rows]
    several = sum(count > 1 for count in filled)
    double = sum(count < len(row) for count, row in zip(filled, rows, strict=True))
    if several < max(MIN_ROWS, sum(across[: len(body)])) or double > MAX_DOUBLE * several:
        return [], []
    return columns, body


def _trimmed(heads: list[Piece], body: Lines, across: list[bool]) -> Lines:
    """Return the rows without those at the end that are no cells: prose, the number of the page."""
    rows = [heads, *body]
    while len(rows) > 1 and (
        across[len(rows) - 2]
        or (len(rows[-1]) == 1 and _step(rows[-2], rows[-1]) > WRAPPED * rows[-1][0].box.height)
    ):
        rows.pop()
    return rows[1:]


def _step(upper: list[Piece], lower: list[Piece]) -> float:
    return upper[0].box.middle[1] - lower[0].box.middle[1]


def _is_across(row: list[Piece], heads: list[Piece]) -> bool:
    return len(row) == 1 and len(_over(row[0].box, map(_span, heads))) > 1


def _span(piece: Piece) -> Span:
    return piece.box.left, piece.box.right


def _over(box: Box, spans: Iterable[Span]) -> list[int]:
    """Return which of the spans stand over or under a box."""
    return [
        number
        for number, (left, right) in enumerate(spans)
        if min(right, box.right) - max(left, box.left) > TOUCHING_POINTS
    ]


def _columns(heads: list[Piece], body: list[Piece]) -> list[list[Piece]]:
    """Return the pieces of each column, its head too; none if that of a piece is in doubt."""
    columns = [[head] for head in heads]
    spans = [_span(head) for head in heads]
    loose = []
    for piece in body:
        over = _over(piece.box, map(_span, heads))
        if len(over) > 1:
            over = [
                number for number in over if abs(heads[number].box.left - piece.box.left) < ALIGNED_POINTS
            ]
            if len(over) != 1:
                return []
            columns[over[0]].append(piece)
        elif over:
            columns[over[0]].append(piece)
            left, right = spans[over[0]]
            spans[over[0]] = min(left, piece.box.left), max(right, piece.box.right)
        else:
            loose.append(piece)
    apart: list[Piece] = []
    for piece in loose:
        over = _over(piece.box, spans)
        if len(over) > 1:
            return []
        (columns[over[0]] if over else apart).append(piece)
    return _with_others(columns, _groups(apart))


def _groups(pieces: list[Piece]) -> list[list[Piece]]:
    """Return the pieces by columns: those that stand under each other, even over a third."""
    groups: list[list[Piece]] = []
    right = 0.0
    for piece in sorted(pieces, key=lambda piece: piece.box.left):
        if groups and piece.box.left < right - TOUCHING_POINTS:
            groups[-1].append(piece)
            right = max(right, piece.box.right)
        else:
            groups.append([piece])
            right = piece.box.right
    return groups


def _with_others(columns: list[list[Piece]], groups: list[list[Piece]]) -> list[list[Piece]]:
    """Return the columns with those under no head: of a head beside them without cells, or own."""
    bare = [column for column in columns if len(column) == 1]
    found = list(columns)
    for group in groups:
        left, right = min(map(_left, group)), max(piece.box.right for piece in group)
        before = [column for column in columns if _left(column[0]) < left]
        after = [column for column in columns if _left(column[0]) > right]
        beside = [*before[-1:], *after[:1]]
        empty = [column for column in beside if any(column is each for each in bare)]
        if not empty or not before:  # labels of the rows
            found.append(group)
        elif len(empty) == 1 and len(empty[0]) == 1:
            empty[0] += group
        else:
            return []
    return sorted(found, key=lambda column: min(map(_left, column)))


def _left(piece: Piece) -> float:
    return piece.box.left


def _is_aligned(columns: list[list[Piece]]) -> bool:
    """Return True if the columns keep their left edges, right edges or middles from row to row."""
    kept = 0
    for column in columns:
        edges = (
            [p.box.left for p in column],
            [p.box.right for p in column],
            [p.box.middle[0] for p in column],
        )
        kept += max(map(_coinciding, edges))
    return kept >= MIN_ALIGNED * sum(map(len, columns))


def _coinciding(places: list[float]) -> int:
    counted = Counter(int(place // ALIGNED_POINTS) for place in places)
    most = max(counted[place] + counted[place + 1] for place in list(counted))
    return most if most > 1 else 0


def _is_drawn_by_columns(columns: list[list[Piece]]) -> bool:
    numbered = [[piece.numbers[0] for piece in column] for column in columns]
    numbered.sort(key=min)
    return all(max(one) < min(other) for one, other in pairwise(numbered))
