"""The fenced code of a text by its lines: fences inside a fence of Markdown, which the parser knows not of.

A model that writes a README puts a fence “markdown” around it, and the fences of its examples inside. There,
a fence with a language begins code of its own, which the next bare one ends; so does a bare fence between a
blank line and one that is not.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from .characters import JOINER

_NESTING = "markdown|md|mdx|mdc|rmd|qmd"
_MEANT = re.compile(rf"(?:`{{3}}|~{{3}})[ \t]*(?:{_NESTING}|math)\b", re.IGNORECASE)
_FENCE = re.compile(
    r"^(?P<prefix>[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(?P<marks>`{3,}|~{3,})(?P<info>[^\n]*)$",
    re.MULTILINE,
)
MARKDOWN = frozenset(_NESTING.split("|"))
_BLANK_BEFORE = re.compile(r"\n[ \t>]*\n\Z|\A[ \t>]*\n\Z")
_TEXT_AFTER = re.compile(r"\n[ \t>]*(?!`{3}|~{3})[^\s>]")
MAX_BLANK_CHARS = 100  # a longer blank line is not looked for


class Fence(NamedTuple):
    begin: int  # of its first marks; offsets are in code points
    code: int  # of the line after them
    last: int  # of the line that closes it; the end of the text if none does
    end: int  # behind its last marks
    language: str
    is_closed: bool
    hidden: tuple[int, ...]  # bare fences in it, which the parser would take for its end


def may_nest(text: str) -> bool:
    """Return True if a text may have a fence that the parser would read otherwise, or one of equations."""
    return ("```" in text or "~~~" in text) and _MEANT.search(text) is not None


def fences(text: str) -> list[Fence]:
    """Return the fences of a text; none if the parser sees all that matters by itself."""
    if not may_nest(text):
        return []
    found: list[Fence] = []
    reader: _Reader | None = None
    for match in _FENCE.finditer(text):
        if reader is None or reader.has_left(text, match.end()):
            is_code_in_line = match["marks"][0] == "`" and "`" in match["info"]
            reader = None if is_code_in_line else _Reader(match)
        elif reader.closes(text, match):
            found.append(reader.fence(text, match))
            reader = None
    return [*found, reader.fence(text, None)] if reader else found


def hide_inner(source: str, found: Sequence[Fence]) -> str:
    """Return the source with a stand-in before each bare fence that belongs to the code of another one."""
    out, done = [], 0
    for fence in found:
        for at in fence.hidden:
            out += [source[done:at], JOINER]
            done = at
    return "".join([*out, source[done:]])


def language(info: str) -> str:
    return info.split(maxsplit=1)[0].lower() if info.strip() else ""


class _Reader:
    """An open fence and the fences that are open inside it."""

    def __init__(self, opening: re.Match[str]) -> None:
        self._opening = opening
        self._language = language(opening["info"])
        self._open = [(len(opening["marks"]), self._language in MARKDOWN)]
        self._hidden: list[int] = []
        prefix = opening["prefix"]
        listed = len(prefix) if prefix.strip(" \t>") else 0
        quoted = ">" in prefix
        # A line that is outside of the list or the quotation with the fence.
        outside = r"(?![ \t]*>)" if quoted else rf"(?![ \t]{{{listed}}}|[ \t]*$)" if listed else ""
        self._outside = re.compile(f"^{outside}", re.MULTILINE) if outside else None
        self._read = opening.end() + 1

    def has_left(self, text: str, until: int) -> bool:
        """Return True if the list or quotation with this fence ends before the line that ends at `until`."""
        begin, self._read = self._read, until
        return self._outside is not None and self._outside.search(text, begin, until) is not None

    def closes(self, text: str, match: re.Match[str]) -> bool:
        """Read a line with a fence; return True if it ends the outermost one."""
        marks, (length, is_markdown) = match["marks"], self._open[-1]
        is_bare = not match["info"].strip()
        if marks[0] != self._opening["marks"][0] or len(marks) < self._open[0][0]:
            return False
        if len(marks) < length:
            self._hidden += [match.start("marks")] if is_bare else []
            return False
        if not is_bare:
            if is_markdown:
                self._open.append((len(marks), language(match["info"]) in MARKDOWN))
            return False
        if len(self._open) == 1 and len(match["prefix"]) > len(self._opening["prefix"]) + 3:
            return False
        if is_markdown and _begins_code(text, match):
            self._open.append((len(marks), False))
        else:
            self._open.pop()
        if self._open:
            self._hidden.append(match.start("marks"))
        return not self._open

    def fence(self, text: str, last: re.Match[str] | None) -> Fence:
        begin, code = self._opening.start("marks"), min(self._opening.end() + 1, len(text))
        ends = (last.start(), last.end("marks")) if last else (len(text), len(text))
        return Fence(begin, code, *ends, self._language, last is not None, tuple(self._hidden))


def _begins_code(text: str, match: re.Match[str]) -> bool:
    """Return True for a bare fence between a blank line and a line of code."""
    before = text[max(0, match.start() - MAX_BLANK_CHARS) : match.start()]
    return _BLANK_BEFORE.search(before) is not None and _TEXT_AFTER.match(text, match.end()) is not None
