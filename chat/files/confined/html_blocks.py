"""The blocks of HTML: white space, lists with their numbers, tables.

Data are rows of Markdown; where a table only arranges a page, its cells follow each other.
"""

import re
from collections.abc import Iterator
from typing import Any

from .html_visibility import is_hidden
from .numerals import column_letters, formatted

MAX_SPAN = 100
MAX_REPEATED_CHARACTERS = 200  # a longer text stands in the first cell of its span alone
MAX_DATA_LINES = 12  # a cell of more lines is a part of a page
ROW_GROUPS = ("thead", "tbody", "tfoot")  # as they are shown, in whatever order they are written
STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([a-z-]+)", re.IGNORECASE)
STYLES = {
    "lower-alpha": "a",
    "lower-latin": "a",
    "upper-alpha": "A",
    "upper-latin": "A",
    "lower-roman": "i",
    "upper-roman": "I",
}
# Until all text of a page is together, these stand for white space that is kept, and for the edge of a block,
# where a line ends, but no blank line is added. No text holds them.
SPACE, LINE, EDGE = "\x1f", "\x1e", "\x1d"
KEPT = str.maketrans({" ": SPACE, "\n": LINE, SPACE: None, LINE: None, EDGE: None})
RESTORED = str.maketrans({SPACE: " ", LINE: "\n", EDGE: "\n"})
MARKS = str.maketrans("", "", SPACE + LINE + EDGE)
WHITE = re.compile(r"[ \t\r\n\f]+")
AROUND_LINES = re.compile(f" *[\n{EDGE}][ \n{EDGE}]*")
SPACES = re.compile(r" {2,}")


def table_text(node: Any, body: Any) -> str:
    rows = list(_rows(node))
    captions = (tidy(body.inside(each)) for each in node.iter() if each.tag == "caption")
    cells = (
        [each for each in row.iter() if each.tag in ("td", "th") and not is_hidden(each)] for row in rows
    )
    texts = [[(each, tidy(body.inside(each))) for each in row] for row in cells]
    if _arranges(node, texts):
        blocks = [text for row in texts for _cell, text in row]
    else:
        blocks = ["\n".join(markdown_rows(_grid(texts)))]
    return "\n\n" + "\n\n".join(filter(None, (*captions, *blocks))) + "\n\n"


def markdown_rows(rows: list[list[str]]) -> Iterator[str]:
    """Return the lines of a table, whose first row is its head."""
    width = max(map(len, rows), default=0)
    for number, row in enumerate(rows):
        cells = [cell.replace("|", r"\|") for cell in row] + [""] * (width - len(row))
        yield f"| {' | '.join(cells)} |"
        if not number:
            yield f"| {' | '.join(['---'] * width)} |"


def _rows(node: Any) -> Iterator[Any]:
    for each in sorted(node.iter(), key=lambda each: {"thead": 0, "tfoot": 2}.get(each.tag, 1)):
        if each.tag == "tr" and not is_hidden(each):
            yield each
        elif each.tag in ROW_GROUPS and not is_hidden(each):
            yield from _rows(each)


def _arranges(node: Any, rows: list[list[tuple[Any, str]]]) -> bool:
    """Return True if the table arranges a page, as those of many mails do."""
    return (
        node.attributes.get("role") in ("presentation", "none")
        or max(map(len, rows), default=0) < 2
        or any(
            LINE in text or text.count("\n") > MAX_DATA_LINES or cell.css_first("table")
            for row in rows
            for cell, text in row
        )
    )


def _grid(rows: list[list[tuple[Any, str]]]) -> list[list[str]]:
    """Return the texts by rows and columns; a cell that spans several has its text in each."""
    grid: list[list[str]] = []
    above: dict[int, tuple[int, str]] = {}  # columns that a cell further up reaches: rows left, text
    for cells in rows:
        row: list[str] = []

        def reached(row: list[str] = row) -> None:
            while len(row) in above:
                left, text = above.pop(len(row))
                if left > 1:
                    above[len(row)] = (left - 1, text)
                row.append(text)

        for cell, text in cells:
            reached()
            text = joined(text)
            repeated = text if len(text) <= MAX_REPEATED_CHARACTERS else ""
            for column in range(_span(cell, "colspan")):
                if _span(cell, "rowspan") > 1:
                    above[len(row)] = (_span(cell, "rowspan") - 1, repeated)
                row.append(repeated if column else text)
        reached()
        grid.append(row)
    return grid


def _span(cell: Any, name: str) -> int:
    text = (cell.attributes.get(name) or "").strip()
    return max(1, min(int(text), MAX_SPAN)) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def list_items(node: Any, body: Any) -> Iterator[str]:
    """Return the items of `<ol>`, `<ul>` or `<menu>`, their further lines indented."""
    attributes = node.attributes
    items = [each for each in node.iter() if each.tag == "li"]
    is_reversed = "reversed" in attributes
    number = _integer(attributes.get("start"), len(items) if is_reversed else 1)
    style = STYLE.search(attributes.get("style") or "")
    kind = STYLES.get(style[1].lower(), "") if style else ""
    for each in node.iter(include_text=True):
        if each.tag != "li":
            text = tidy(body.text_of(each))
            if text:
                yield prefixed(text, kept("  "), "  ")
            continue
        number = _integer(each.attributes.get("value"), number)
        form = each.attributes.get("type") or kind or attributes.get("type") or "1"
        marker = f"{numeral(number, form)}. " if node.tag == "ol" else "- "
        number += -1 if is_reversed else 1
        if not is_hidden(each):
            yield prefixed(tidy(body.inside(each)), marker, " " * len(marker))


def numeral(number: int, form: str) -> str:
    """Return a number of a list of type "1", "a", "A", "i" or "I", as browsers write it."""
    found = str(number)
    if form in ("a", "A") and number > 0:
        found = column_letters(number).lower()
    elif form in ("i", "I") and 0 < number < 4_000:
        found = formatted(number, "lowerRoman")
    return found.upper() if form.isupper() else found


def _integer(text: str | None, default: int) -> int:
    found = re.match(r"\s*([+-]?\d{1,9})", text or "")
    return int(found[1]) if found else default


def collapsed(text: str) -> str:
    return WHITE.sub(" ", text.translate(MARKS))


def kept(text: str) -> str:
    return text.translate(KEPT)


def tidy(text: str) -> str:
    """Return blocks without the spaces around them, at most one blank line apart."""
    text = AROUND_LINES.sub(lambda run: "\n\n" if run[0].count("\n") > 1 else "\n", text)
    return SPACES.sub(" ", text).strip(" \n" + EDGE)


def joined(text: str) -> str:
    return collapsed(text.translate(RESTORED)).strip()


def restored(text: str) -> str:
    """Return the blocks with the white space that was kept."""
    return tidy(text).translate(RESTORED)


def prefixed(text: str, first: str, rest: str) -> str:
    """Return tidy blocks with `first` before the first line, and `rest` before each of the others."""
    rest = kept(rest)
    return first + re.sub(f"[\n{LINE}]", lambda end: end[0] + rest, text)
