"""Tables of HTML: data as rows of Markdown, and the cells in turn where a table only arranges a page."""

from collections.abc import Iterator
from typing import Any

from .html_visibility import is_hidden
from .html_whitespace import LINE, joined, tidy

MAX_SPAN = 100
MAX_REPEATED_CHARACTERS = 200  # a longer text stands in the first cell of its span alone
MAX_DATA_LINES = 12  # a cell of more lines is a part of a page
ROW_GROUPS = ("thead", "tbody", "tfoot")  # as they are shown, in whatever order they are written


def table_text(node: Any, body: Any) -> str:
    rows = list(_rows(node))
    captions = (tidy(body.inside(each)) for each in node.iter() if each.tag == "caption")
    texts = [
        [(cell, tidy(body.inside(cell))) for cell in row.iter() if _is_cell(cell) and not is_hidden(cell)]
        for row in rows
    ]
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


def _is_cell(node: Any) -> bool:
    return node.tag in ("td", "th")


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
