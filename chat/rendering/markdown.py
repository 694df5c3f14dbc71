"""Markdown as sanitised HTML, one element for each top-level block.

CommonMark with GitHub's tables, task lists, strikethrough, footnotes and bare links. HTML in a text is shown
as text, an image as a link to it: nothing that a model writes makes a browser ask another host.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from .characters import neutralise_controls
from .definitions import LinkDefinitions
from .highlight import MESSAGE_BUDGET, Budget
from .sanitise import clean
from .writer import HtmlWriter

_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
# The cells that the parser adds to short rows: half a million of them may come of a short text.
_PADDING = ({"Start": "TableCell"}, {"End": "TableCell"})


@dataclass(slots=True)
class Block:
    """A top-level block. Offsets are in code points: `start` and `end` at beginnings of lines, `sure` behind
    the line that decided that the block begins."""

    html: str
    start: int
    decided_at: int
    end: int
    footnotes: tuple[str, ...] = ()  # the labels that it defines
    open_fence: str | None = None  # the language, where it is a fence that the end of the text left open
    parses_alone: bool = True  # it can be parsed without the block before it
    outline: tuple[int, ...] = ()  # the headings that one after it may stand under
    budget: int = MESSAGE_BUDGET  # what is left after it for the colours of code

    def moved(self, by: int) -> Self:
        return replace(self, start=self.start + by, decided_at=self.decided_at + by, end=self.end + by)


def render(text: str, anchors: str = "", budget: Budget | None = None) -> list[str]:
    """Sanitised HTML of each top-level block of a Markdown text, in order: exactly one root element each.

    `anchors`: prefix that keeps this text's footnotes apart from those of others on the page.
    """
    return [block.html for block in parse(text, anchors, budget=budget)]


def parse(
    text: str,
    anchors: str = "",
    known: LinkDefinitions | None = None,
    outline: tuple[int, ...] = (),
    *,
    budget: Budget | None = None,
    growing: bool = False,
) -> Iterator[Block]:
    """The blocks of a text. `known` is what the text before it has defined, `outline` the one of the block
    before it, `budget` what that one left; `growing`: more is to come."""
    known = known or LinkDefinitions()
    budget = budget or Budget()
    shown = _CARRIAGE_RETURN.sub("\n", neutralise_controls(text))
    preamble = known.preamble(shown)
    source = (preamble + shown).encode()
    writer = HtmlWriter(source, anchors, outline, budget=budget, growing=growing)
    code_points, lines = _code_points(source), _Lines(source)
    begin = 0
    for event, span in known.parser().events_with_range(preamble + shown, merge_text=True):
        if span["start"] == span["end"] and event in _PADDING:
            continue
        if writer.between:
            begin = span["start"]
        writer.write(event, span)
        if writer.between:
            html, footnotes = writer.taken()
            offsets = lines.of(begin, span["end"], deciding=2 if event == {"End": "Table"} else 1)
            start, sure, end = (code_points(at) - len(preamble) for at in offsets)
            if start >= 0:
                apart = event == {"End": "CodeBlock"} or lines.is_apart(begin)
                fence, outline = writer.open_fence, writer.outline
                yield Block(clean(html), start, sure, end, footnotes, fence, apart, outline, budget.left)


class _Lines:
    """Where the lines of a text begin and end. The line that was asked for last is kept: a whole text may be
    one line, with a block in every six bytes of it."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._begin = self._end = 0

    def begin(self, at: int) -> int:
        """Where the line begins that this byte is in."""
        self._find(at)
        return self._begin

    def end(self, at: int) -> int:
        """Where the line after it begins; one behind the end of the text where there is none."""
        self._find(at)
        return self._end

    def _find(self, at: int) -> None:
        if not self._begin <= at < self._end:
            self._begin = self._source.rfind(b"\n", 0, at) + 1
            self._end = self._source.find(b"\n", at) + 1 or len(self._source) + 1

    def of(self, begin: int, end: int, deciding: int) -> tuple[int, int, int]:
        """Where the first line of a block begins, where those end that decide that it begins, and where its
        last one ends. (A list's range may reach into the indentation of the line after it, a fence's stops
        before its line break. A paragraph's last line becomes the head of a table by the line after it.)"""
        start, sure = self.begin(begin), begin
        for _ in range(deciding):
            sure = self.end(sure)
        last = max(0, begin + len(self._source[begin:end].rstrip()) - 1)
        return start, sure, min(self.end(last), len(self._source))

    def is_apart(self, begin: int) -> bool:
        """Whether a block begins where it would by itself: a footnote that begins as deep as the contents of
        the one before it ends that one, but without that one its line would be code."""
        indentation = self._source[self.begin(begin) : begin][:4]
        return len(indentation) < 4 and b"\t" not in indentation


def _code_points(source: bytes) -> Callable[[int], int]:
    """Turns byte offsets, asked for in ascending order, into code points."""
    if source.isascii():
        return int
    done = counted = 0

    def counting(offset: int) -> int:
        nonlocal done, counted
        counted += len(source[done:offset].decode())
        done = offset
        return counted

    return counting
