"""Tables: their source, with stand-ins for pipes that divide no cell, and their events as HTML.

Pipes in code, and those that a row has too many, divide no cell; a head begins with one. On GitHub, a row
with such a pipe loses the words behind its last column.
"""

import re
from functools import partial
from html import escape
from typing import Any, ClassVar

from pyromark.event import Range

from .characters import HEAD, PIPE
from .definitions import PARSER
from .inline import Elements
from .mathml import Equation

_CODE = re.compile(r"(?<![`\\])(?:`(?!`)[^`\n]+`(?!`)|``(?!`)[^\n]+?(?<!`)``(?!`))")
_OPEN_CODE = re.compile(r"(?<![`\\])`(?!`)[^`\n]*\Z")
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITERS = re.compile(r"^[ \t>|:-]*-[ \t|:-]*$", re.MULTILINE)
# The beginning of a head without a pipe there, which begins no list, heading, fence, footnote or HTML.
_HEAD = re.compile(r"[ \t>]*(?!(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t]|```|~~~|\[\^)(?=[^\s>|<])")
_EDGES = " \t>"  # what stands before the first cell of a row, and behind its last one
MAX_COLUMNS = 100  # a wider table is shown as its source text

_HEAD_END = "</tr></thead><tbody>"


def hide_pipes(source: str, *, growing: bool = False) -> str:
    """Return the source with a stand-in for each pipe in code, except escaped ones, which the parser knows.

    `growing`: more text follows, so that code may be open at the end.
    """
    if "|" not in source:
        return source
    source = _CODE.sub(lambda code: _PIPE.sub(PIPE, code[0]), source)
    if not growing or "`" not in source:
        return source
    line = source.rfind("\n") + 1
    last = _CODE.sub(lambda code: " " * len(code[0]), source[line:])
    begun = _OPEN_CODE.search(last)
    at = line + (begun.start() if begun else len(last))
    return source[:at] + _PIPE.sub(PIPE, source[at:])


def shaped(source: str) -> str:
    """Return the source with a stand-in for each pipe by which a row has more cells than its table.

    The parser sees a head directly below a line of text only if it begins with a pipe, so that is inserted.
    """
    delimiters = [found.start() for found in _DELIMITERS.finditer(source) if "|" in found[0]]
    if not delimiters:
        return source
    source = _with_pipes(source, delimiters)
    text = source.encode()
    out, done = [], 0
    for event, span in PARSER.events_with_range(source):
        match event:
            case {"Start": {"Table": columns}}:
                head, delimiter, *rows = text[span["start"] : span["end"]].decode().split("\n")
                rows = [_with_columns(row, len(columns)) for row in rows]
                out += [text[done : span["start"]].decode(), "\n".join([head, delimiter, *rows])]
                done = span["end"]
    return "".join([*out, text[done:].decode()])


def _with_pipes(source: str, delimiters: list[int]) -> str:
    """Insert the pipes at the beginnings of heads, which stand above the delimiters."""
    out, done = [], 0
    for at in delimiters:
        head = _HEAD.match(source, source.rfind("\n", 0, max(0, at - 1)) + 1, at)
        if head and head.start() and "|" in source[head.end() : at]:
            out += [source[done : head.end()], HEAD]
            done = head.end()
    return "".join([*out, source[done:]])


def _with_columns(row: str, columns: int) -> str:
    """Return a row of at most so many cells. Pipes without a space beside them divide its words first."""
    begin, end = len(row) - len(row.lstrip(_EDGES)), len(row.rstrip(_EDGES))
    pipes = [found.start() for found in _PIPE.finditer(row, begin + 1, end - 1)]
    excess = len(pipes) - (columns - 1)
    if excess <= 0:
        return row
    tight = [at for at in pipes if not (row[at - 1].isspace() or row[at + 1].isspace())]
    inside = {*tight}
    loose = [at for at in pipes if at not in inside]
    hidden = {*tight[-excess:], *loose[len(loose) - max(0, excess - len(tight)) :]}
    return "".join(PIPE if at in hidden else character for at, character in enumerate(row))


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
