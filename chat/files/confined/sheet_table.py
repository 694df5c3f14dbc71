"""The cells of a sheet as few tables as tell them, with its notes, comments and controls.

What is empty is left out, far cells stand by their address.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from xml.etree.ElementTree import Element, ParseError

from .containers import Package, Relation
from .drawing_text import markdown_table
from .numerals import column_letters
from .word_runs import CHECKED, UNCHECKED

# A table goes on behind so many empty rows, or columns.
MAX_EMPTY_ROWS, MAX_EMPTY_COLUMNS = 20, 8
MAX_LISTED = 3  # cells that are no table yet
MIN_SHARE = 1 / 20  # of the cells of a large table that hold something
LARGE = 2_000
HIDDEN_ROW, HIDDEN_COLUMN = "[hidden row]", "[hidden column]"
NOT_CALCULATED = "(not calculated)"  # what stands for, or behind, a formula without its value
ROW_PIXELS = 20


@dataclass(slots=True)
class Sheet:
    """The texts of cells by row and column, both from 1, and what is said of them."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[tuple[range, range]] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[range] = field(default_factory=list)
    notes: list[tuple[int, int, str]] = field(default_factory=list)  # by row and column
    cells: int = 0


def tables(sheet: Sheet) -> Iterator[str]:
    """Return the tables of a sheet, each with its range if there are several."""
    _spread(sheet)
    for row, column, note in sheet.notes:
        cells = sheet.rows.setdefault(row, {})
        cells[column] = f"{cells.get(column, '')} {note}".strip()
    _mark_hidden(sheet)
    blocks = list(_blocks(sheet))
    for rows, columns in blocks:
        within = range(columns[0], columns[-1] + 1)
        found = [(row, each) for row in rows for each in sorted(sheet.rows[row]) if each in within]
        area = len(rows) * len(columns)
        if (len(blocks) > 1 and len(found) <= MAX_LISTED) or (area > LARGE and len(found) < area * MIN_SHARE):
            yield "\n".join(f"{column_letters(each)}{row}: {sheet.rows[row][each]}" for row, each in found)
        else:
            name = f"{column_letters(columns[0])}{rows[0]}:{column_letters(columns[-1])}{rows[-1]}\n\n"
            lines = [[_escaped(sheet.rows[row].get(column, "")) for column in columns] for row in rows]
            yield (name if len(blocks) > 1 else "") + markdown_table(lines)


def _blocks(sheet: Sheet) -> Iterator[tuple[list[int], list[int]]]:
    """Return the rows and columns of groups of cells, between which much is empty."""
    for columns in _groups({column for row in sheet.rows.values() for column in row}, MAX_EMPTY_COLUMNS):
        within = range(columns[0], columns[-1] + 1)
        rows = {row for row, cells in sheet.rows.items() if any(column in within for column in cells)}
        for group in _groups(rows, MAX_EMPTY_ROWS):
            yield group, columns


def _spread(sheet: Sheet) -> None:
    """Repeat the text of merged cells at each of their places that a reader would look at."""
    used = sorted({column for row in sheet.rows.values() for column in row})
    for rows, columns in sheet.merged:
        text = sheet.rows.get(rows[0], {}).get(columns[0])
        if not text:
            continue
        beside = any(column not in columns for column in sheet.rows[rows[0]])
        across = [column for column in used if column in columns] if beside else [columns[0]]
        down = (row for row in sheet.rows if row in rows) if len(rows) > len(sheet.rows) else rows
        for row in down:
            if row in sheet.rows:
                for column in across:
                    sheet.rows[row].setdefault(column, text)


def _mark_hidden(sheet: Sheet) -> None:
    for row in sheet.hidden_rows & sheet.rows.keys():
        first = min(sheet.rows[row])
        sheet.rows[row][first] += f" {HIDDEN_ROW}"
    if not sheet.hidden_columns:
        return
    marked: set[int] = set()
    for row in sorted(sheet.rows):
        for column in sheet.rows[row].keys() - marked:
            if any(column in hidden for hidden in sheet.hidden_columns):
                sheet.rows[row][column] += f" {HIDDEN_COLUMN}"
            marked.add(column)


def _groups(numbers: Iterable[int], gap: int) -> list[list[int]]:
    """Return numbers in groups, between which more are missing than `gap`."""
    ordered = sorted(numbers)
    edges = [
        0,
        *(at for at, (one, two) in enumerate(pairwise(ordered), 1) if two - one - 1 > gap),
        len(ordered),
    ]
    return [ordered[start:end] for start, end in pairwise(edges) if end > start]


def _escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("\r\n", "\n").replace("\r", "\n").replace("\n", "<br>").strip()


def notes_of(package: Package, relations: dict[str, Relation]) -> Iterator[tuple[str, str]]:
    """Return the addresses of cells, and the notes at them."""
    threads = dict[str, list[str]]()
    for relation in relations.values():
        if relation.kind == "threadedComment":
            for comment in package.root(relation.target):
                threads.setdefault(comment.get("ref", ""), []).append(_texts(comment, "text"))
    for reference, texts in threads.items():
        yield reference, f"[comment: {' / '.join(texts)}]"
    for relation in relations.values():
        if relation.kind == "vmlDrawing":
            yield from _controls(package, relation.target)
        elif relation.kind == "comments":
            root = package.root(relation.target)
            authors = [each.text or "" for each in root.iter("x-author")]
            for note in root.iter("x-comment"):
                if note.get("ref") not in threads:  # which older programs see as a note
                    yield note.get("ref", ""), _note(note, authors)


def _controls(package: Package, part: str) -> Iterator[tuple[str, str]]:
    """Return the states and captions of controls at the cells on which they stand."""
    try:
        shapes = package.root(part).iter("v-shape")
    except ParseError:  # Excel writes HTML there
        return
    for shape in shapes:
        data, box = shape.find("ClientData"), shape.find("v-textbox")
        if data is None or (kind := data.get("ObjectType")) == "Note":
            continue
        text = " ".join("".join(box.itertext()).split()) if box is not None else ""
        if kind in ("Checkbox", "Radio"):
            text = f"{CHECKED if data.findtext('Checked') == '1' else UNCHECKED} {text}".strip()
        elif listed := data.findtext("FmlaRange"):
            text = f"[choice {data.findtext('Sel', '0')} of {listed.replace('$', '')}]"
        if text:
            yield _cell(data.findtext("Anchor", "")), text


def _cell(anchor: str) -> str:
    """Return the cell at the left and the middle row of an anchor: column, pixels, row, pixels, twice."""
    places = [int(each) if each.strip().isdigit() else 0 for each in anchor.split(",")]
    column, _, top, above, _, _, bottom, below = places if len(places) == 8 else [0] * 8
    row = (top + bottom + (above + below) / ROW_PIXELS) / 2
    return f"{column_letters(column + 1)}{int(row) + 1}"


def _note(note: Element, authors: list[str]) -> str:
    number, text = note.get("authorId", ""), _texts(note, "x-t")
    author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
    text = text.removeprefix(f"{author}:").strip()
    return f"[note by {author}: {text}]" if author else f"[note: {text}]"


def _texts(element: Element, tag: str) -> str:
    return "".join(each.text or "" for each in element.iter() if each.tag == tag).strip()
