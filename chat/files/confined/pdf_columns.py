"""The order in which a page of a PDF is read: by columns where it has columns of prose, by rows in tables.

That in which the page draws it is changed only where it is surely wrong: lines of prose that alternate
between columns, cells of a table drawn by columns.
The cells of a table are set apart by tabs, since one without text would else move those behind it.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby, pairwise
from statistics import mean, median

from .pdf_pieces import Lines, Piece, crosses, in_rows
from .pdf_pieces import pieces as split
from .pdf_text import Box, PageText

MAX_WIDTH_POINTS = 5_000
MAX_PIECES = 2_000  # of a page; the time grows with their square
MIN_GUTTER_POINTS = 6
MAX_CROSSING = 0.35  # of the lines at one place: titles and wide tables cross the space between columns
MIN_LINES = 3
MIN_TURNS = 0.8  # of the lines beside those of the longest column
MIN_FILLED = 0.6  # of a column's width, by a line of prose
MIN_WORDS = 3
MIN_CONTINUED = 0.3  # of the lines of prose begin with a small letter; few of those of a table
PARAGRAPH = 1.35  # pitches of lines; more is the space between paragraphs or rows
MIN_COINCIDING = 0.6  # of the rows in both columns of a table
MIN_ALIGNED, MIN_NUMBERS, MAX_CELL_WORDS = 0.7, 0.6, 4
NUMBER = re.compile(r"[^\w]*\d[\d.,:% ]*\W*\w{0,3}\W*")
FIRST_LETTER = re.compile(r"[^\W\d_]")


def arranged(
    text: PageText, lines: Iterable[tuple[range, Box]], found: list[float]
) -> list[int | str] | None:
    """Return the numbers of the characters of lines, with line feeds and tabs between pieces that are moved.

    None unless a part of them is surely in columns or rows. `found`: the spaces between columns.
    """
    pieces = list(split(text, lines, found))
    found = gutters(piece.box for piece in pieces)
    if not found or len(pieces) > MAX_PIECES:
        return None
    ordered, is_moved = _arranged(pieces, found)
    return list(_joined(ordered)) if is_moved else None


def gutters(boxes: Iterable[Box], most: float = MAX_CROSSING) -> list[float]:
    """Return where the spaces between columns are, from the left. `most`: of the lines cross one."""
    boxes = [box for box in boxes if box.right > box.left]
    if len(boxes) < 2 * MIN_LINES:
        return []
    edges = min(box.left for box in boxes), max(box.right for box in boxes)
    if not edges[1] - edges[0] <= MAX_WIDTH_POINTS:  # nor is infinity
        return []
    left, right = map(int, edges)
    changes = [0] * (right - left + 2)
    for box in boxes:
        changes[int(box.left) - left] += 1
        changes[min(int(box.right), right) - left + 1] -= 1
    crossing = list(accumulate(changes))
    return list(_middles(crossing, most * max(crossing), left, boxes))


def _middles(crossing: list[int], most: float, left: int, boxes: list[Box]) -> Iterator[float]:
    for is_gap, run in groupby(range(len(crossing)), lambda x: crossing[x] <= most):
        places = list(run)
        if not is_gap or len(places) < MIN_GUTTER_POINTS:
            continue
        middle = left + _emptiest(crossing, places)
        if (
            min(sum(box.right < middle for box in boxes), sum(box.left > middle for box in boxes))
            >= MIN_LINES
        ):
            yield middle


def _emptiest(crossing: list[int], places: list[int]) -> float:
    """Return the middle of the widest part of `places` that the fewest lines cross."""
    least = min(crossing[x] for x in places)
    runs = (list(run) for is_least, run in groupby(places, lambda x: crossing[x] == least) if is_least)
    widest = max(runs, key=len)
    return (widest[0] + widest[-1]) / 2


def _arranged(pieces: list[Piece], found: list[float]) -> tuple[list[str | Piece], bool]:
    """Return the pieces in their order, and whether any part of the page is surely in columns or rows."""
    across = [piece for piece in pieces if any(crosses(piece.box, gutter) for gutter in found)]
    across.sort(key=lambda piece: -piece.box.middle[1])  # as the bands between them are cut
    edges = [piece.box.middle[1] for piece in across]
    rest = [piece for piece in pieces if not any(crosses(piece.box, gutter) for gutter in found)]
    bands = []
    for number in range(len(across) + 1):
        upper = edges[number - 1] if number else float("inf")
        lower = edges[number] if number < len(edges) else float("-inf")
        bands.append([piece for piece in rest if lower < piece.box.middle[1] <= upper])
    made = [_band(band, found) for band in bands]
    sure = [is_sure for _, is_sure in made]
    lines = [[over] for over in across]
    for number, line in enumerate(lines):
        for near in (number, number + 1):
            if not sure[near]:  # a label, say, of a value that crosses
                line += [each for each in bands[near] if each.box.shares_line(line[0].box)]
                bands[near] = [each for each in bands[near] if not each.box.shares_line(line[0].box)]
    ordered: list[str | Piece] = []
    for number, band in enumerate(bands):
        ordered += (made[number] if sure[number] else _band(band, found))[0]
        for line in lines[number : number + 1]:
            ordered += _words(sorted(line, key=lambda piece: piece.box.left))
    return ordered, any(sure)


def _band(band: list[Piece], found: list[float]) -> tuple[list[str | Piece], bool]:
    """Return the order of what stands between two lines that cross the columns."""
    columns = [
        in_rows([piece for piece in band if sum(gutter < piece.box.middle[0] for gutter in found) == number])
        for number in range(len(found) + 1)
    ]
    columns = [lines for lines in columns if lines]
    if len(columns) > 1 and _alternate(columns) and _is_prose(columns):
        return [each for lines in columns for line in lines for each in _words(line)], True
    rows = in_rows(band)
    if len(columns) > 1 and (_is_table(columns) or _is_grid(rows)):
        boxes = [piece.box for piece in band]  # without the lines that cross them
        own = max(gutters(boxes), gutters(boxes, 0), key=len) or found  # a column may have few cells
        return [each for row in rows for each in _cells(row, own)], True
    return [each for piece in band for each in _words([piece])], False


def _words(line: list[Piece]) -> Iterator[str | Piece]:
    for number, piece in enumerate(line):
        yield " " if number else ""
        yield piece
    yield "\n"


def _cells(row: list[Piece], found: list[float]) -> Iterator[str | Piece]:
    """Return the cells of a row, the empty ones too."""
    column = 0
    for number, piece in enumerate(row):
        place = sum(gutter < piece.box.middle[0] for gutter in found)
        yield "\t" * max(place - column, min(number, 1))
        yield piece
        column = place
    yield "\n"


def _alternate(columns: list[Lines]) -> bool:
    """Return True if the page draws the lines of the columns in turn, not the parts of a column together."""
    drawn = sorted((line[0].numbers[0], number) for number, lines in enumerate(columns) for line in lines)
    turns = sum(one != other for (_, one), (_, other) in pairwise(drawn))
    return turns >= MIN_TURNS * (len(drawn) - max(map(len, columns)))


def _is_prose(columns: list[Lines]) -> bool:
    long = [lines for lines in columns if len(lines) >= MIN_LINES]
    return bool(long) and all(map(_runs_on, long)) and not any(_coincide(*two) for two in pairwise(long))


def _runs_on(lines: Lines) -> bool:
    """Return True if the lines of a column are those of running text."""
    left, right = min(line[0].box.left for line in lines), max(line[-1].box.right for line in lines)
    filled = median((line[-1].box.right - line[0].box.left) / max(right - left, 1) for line in lines)
    texts = [" ".join(piece.text for piece in line) for line in lines]
    letters = [found[0] for found in map(FIRST_LETTER.search, texts[1:]) if found]
    cased = [letter for letter in letters if letter.lower() != letter.upper()]
    if filled < MIN_FILLED:
        return False
    if len(cased) < len(letters) / 2:  # Chinese, Japanese, Thai, …
        return mean(map(len, texts)) >= 2 * MIN_WORDS
    continued = sum(letter.islower() for letter in cased)
    return mean(len(text.split()) for text in texts) >= MIN_WORDS and continued >= MIN_CONTINUED * len(cased)


def _coincide(one: Lines, other: Lines) -> bool:
    """Return True if the spaces between paragraphs are at the same heights: then they are rows of a table."""
    (ones, pitch), (others, _) = _breaks(one), _breaks(other)
    shared = sum(any(abs(each - place) < pitch for each in others) for place in ones)
    return shared >= 2 and shared >= MIN_COINCIDING * min(len(ones), len(others))


def _breaks(lines: Lines) -> tuple[list[float], float]:
    heights = [line[0].box.middle[1] for line in lines]
    steps = [upper - lower for upper, lower in pairwise(heights)]
    pitch = median(steps)
    return [upper for upper, step in zip(heights, steps, strict=False) if step > PARAGRAPH * pitch], pitch


def _is_table(columns: list[Lines]) -> bool:
    """Return True for a table, of numbers or of labels and values, that is drawn column by column."""
    numbered = [[min(piece.numbers[0] for piece in line) for line in lines] for lines in columns]
    by_columns = all(max(one) < min(other) for one, other in pairwise(numbered))
    longest = max(columns, key=len)
    rest = [line for lines in columns if lines is not longest for line in lines]
    if not by_columns or len(longest) < MIN_LINES or not rest:
        return False
    cells = [" ".join(piece.text for piece in line) for lines in columns for line in lines]
    aligned = sum(any(line[0].box.shares_line(each[0].box) for each in longest) for line in rest)
    labels = sum(line[-1].text.endswith(":") for line in columns[0])
    numbers = sum(bool(NUMBER.fullmatch(piece.text)) for line in rest for piece in line)
    return (
        aligned >= MIN_ALIGNED * len(rest)
        and median(len(cell.split()) for cell in cells) <= MAX_CELL_WORDS
        and (len(columns) > 2 or max(numbers / len(rest), labels / len(columns[0])) >= MIN_NUMBERS)
    )


def _is_grid(rows: Lines) -> bool:
    """Return True for a table of several columns of short cells that is drawn row by row."""
    drawn = [piece.numbers[0] for row in rows for piece in row]
    return (
        sum(len(row) > 2 for row in rows) >= MIN_LINES
        and drawn == sorted(drawn)
        and median(len(piece.text.split()) for row in rows for piece in row) <= MAX_CELL_WORDS
    )


def _joined(ordered: list[str | Piece]) -> Iterator[int | str]:
    """Return the characters; a word that was divided at the end of a line is put together."""
    for number, each in enumerate(ordered):
        if isinstance(each, str):
            yield each
            continue
        following = next((one for one in ordered[number + 1 : number + 4] if isinstance(one, Piece)), None)
        is_divided = (
            each.text.endswith("-")
            and each.text[-2:-1].isalpha()
            and following
            and following.text[0].islower()
        )
        yield from each.numbers[:-1] if is_divided else each.numbers
        if is_divided:
            yield "\x02"
