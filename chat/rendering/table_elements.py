"""Conversion of the events of tables to HTML."""

from functools import partial
from html import escape
from typing import Any, ClassVar

from pyromark.event import Range

from .equation import Equation
from .inline import Elements

MAX_COLUMNS = 100  # a wider table is shown as its source text

_HEAD_END = "</tr></thead><tbody>"


class Tables(Elements):
    """A writer of tables that are aligned by CSS classes and can be scrolled, also by keyboard."""

    def __init__(self, source: bytes, equations: list[Equation]) -> None:
        super().__init__(source, equations)
        self._aligned: tuple[str, ...] = ()  # the alignments of the columns
        self._column = 0

    def _table(self, aligned: tuple[str, ...], span: Range) -> None:
        if len(aligned) > MAX_COLUMNS:
            return self._as_typed(span)
        self._aligned = aligned
        return self._open(
            f'<div class="table" tabindex="0"{self._container}><table>', "</tbody></table></div>"
        )

    def _as_typed(self, span: Range) -> None:
        text = escape(self._unmasked(self._source[span["start"] : span["end"]].decode()), quote=False)
        self._caught = []
        self._ends.append(partial(self._release, f'<p class="html" dir="auto">{text}</p>'))

    def _head(self, _: None, span: Range) -> None:
        self._column = 0
        self._open("<thead><tr>", _HEAD_END)

    def _row(self, _: None, span: Range) -> None:
        self._column = 0
        self._open("<tr>", "</tr>")

    def _cell(self, _: None, span: Range) -> None:
        side = self._aligned[self._column]
        self._column += 1
        name = "th" if self._ends[-1] == _HEAD_END else "td"
        aligned = "" if side == "None" else f' class="{side.lower()}"'
        self._open(f"<{name}{aligned}{self._auto}>", f"</{name}>")

    TABLES: ClassVar[dict[str, Any]] = {
        "Table": _table,
        "TableHead": _head,
        "TableRow": _row,
        "TableCell": _cell,
    }
