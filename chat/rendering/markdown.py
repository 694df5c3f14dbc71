"""Markdown as sanitised HTML, one element for each top-level block.

CommonMark with GitHub's tables, task lists, strikethrough, footnotes, alerts and bare links. HTML in a text
is shown as text, except a few harmless tags (see `html_tags`), and an image as a link, so that nothing a
model writes makes a browser contact another host.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from .characters import inserted, neutralise_controls
from .code_blocks import HIGHLIGHT_BUDGET_CHARS, Budget
from .definitions import LinkDefinitions
from .fences import fences, hide_inner
from .html_tags import apart
from .maths import MATHS_BUDGET_CHARS, mask
from .sanitise import clean
from .tables import hide_pipes
from .writer import HtmlWriter, for_parser

_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
# The events of the empty cells that the parser adds to short rows: a short text can produce half a million.
_PADDING = ({"Start": "TableCell"}, {"End": "TableCell"})


@dataclass(slots=True)
class Block:
    """A top-level block. Offsets are in code points.

    `start` and `end` are at the beginning of a line, `decided_at` is the end of the line that proves that the
    block has begun.
    """

    html: str
    start: int
    decided_at: int
    end: int
    footnotes: tuple[str, ...] = ()  # the labels that the block defines
    open_fence: str | None = None  # the language, if the block is a fence that is open at the end of the text
    parses_alone: bool = True  # the block can be parsed without the block before it
    outline: tuple[int, ...] = ()  # the levels of the headings that enclose the text after the block
    budget: int = HIGHLIGHT_BUDGET_CHARS  # the highlighting budget that is left after the block
    maths: int = MATHS_BUDGET_CHARS  # the characters of equations that are left after the block

    def moved(self, by: int) -> Self:
        return replace(self, start=self.start + by, decided_at=self.decided_at + by, end=self.end + by)


def render(text: str, anchors: str = "", budget: Budget | None = None) -> list[str]:
    """Return the sanitised HTML of each top-level block of a Markdown text, exactly one root element each.

    `anchors`: prefix that keeps this text's footnotes apart from those of other texts on the page.
    """
    return [block.html for block in parse(text, anchors, budget=budget)]


def block_count(text: str) -> int:
    return sum(1 for _ in parse(text, budget=Budget(0)))  # no highlighting, just to count


def parse(
    text: str,
    anchors: str = "",
    known: LinkDefinitions | None = None,
    outline: tuple[int, ...] = (),
    *,
    budget: Budget | None = None,
    maths: int = MATHS_BUDGET_CHARS,
    growing: bool = False,
) -> Iterator[Block]:
    """Yield the blocks of a text.

    `known`: the definitions in the text before it. `outline`: that of the block before it. `budget`: the
    highlighting budget that is left. `maths`: the characters of equations that are left. `growing`: more text
    follows.
    """
    known, budget = LinkDefinitions() if known is None else known, budget or Budget()
    shown = _CARRIAGE_RETURN.sub("\n", neutralise_controls(text))
    preamble = known.preamble(shown)
    nested = fences(shown)
    masked = mask(shown, maths, nested, growing=growing)
    hidden = hide_pipes(hide_inner(masked.text, nested), growing=growing)
    whole = for_parser(apart(preamble + known.apart(hidden)))
    source = whole.encode()
    writer = HtmlWriter(source, anchors, outline, budget=budget, equations=masked.equations, growing=growing)
    code_points, lines = _code_points(source), _Lines(source)
    events = known.parser().events_with_range(whole, merge_text=True)
    for span, last in _blocks(events, writer):
        html, footnotes = writer.taken()
        offsets = lines.of(*span, deciding=2 if last == {"End": "Table"} else 1)
        start, decided_at, end = (code_points(at) - len(preamble) for at in offsets)
        if start < 0:
            continue  # a block of the preamble
        alone = last == {"End": "CodeBlock"} or lines.parses_alone(span[0])
        left = masked.left(maths, end) if masked.equations else maths
        facts = footnotes, writer.open_fence, alone, writer.outline, budget.left, left
        yield Block(clean(html), start, decided_at, end, *facts)


def _blocks(events: Iterable[tuple[Any, Any]], writer: HtmlWriter) -> Iterator[tuple[tuple[int, int], Any]]:
    """Write the events. At the end of each block, yield its (begin, end) in bytes and its last event."""
    begin = 0
    for event, span in events:
        if span["start"] == span["end"] and event in _PADDING:
            continue
        if writer.between:
            begin = span["start"]
        writer.write(event, span)
        if writer.between:
            yield (begin, span["end"]), event
    if not writer.between:
        writer.finish()
        yield (begin, writer.length), None


class _Lines:
    """The lines of a text, in byte offsets.

    The line found last is kept, because a whole text may be a single line with a block in every six bytes.
    """

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._begin = self._end = 0

    def _line(self, at: int) -> tuple[int, int]:
        """Return where the line with this byte and the next one begin; the latter may be beyond the end."""
        if not self._begin <= at < self._end:
            self._begin = self._source.rfind(b"\n", 0, at) + 1
            self._end = self._source.find(b"\n", at) + 1 or len(self._source) + 1
        return self._begin, self._end

    def of(self, begin: int, end: int, deciding: int) -> tuple[int, int, int]:
        """Return a block's (start of the first line, end of the line that proves it, end of the last line).

        `begin` and `end` are the parser's range, which is not exact: a list's may reach into the indentation
        of the next line, and a fence's ends before its line break. `deciding` is the number of lines that
        prove the block: two for a table, whose second line turns the last line of a paragraph into its head.
        """
        (start, _), decided_at = self._line(begin), begin
        for _number in range(deciding):
            _, decided_at = self._line(decided_at)
        last = max(0, begin + len(self._source[begin:end].rstrip()) - 1)
        return start, decided_at, min(self._line(last)[1], len(self._source))

    def parses_alone(self, begin: int) -> bool:
        """Return True if the block at `begin`, parsed alone, would begin at the same place.

        A counterexample: a footnote that is indented as deep as the contents of the footnote before it ends
        that one, but parsed alone its line would be code.
        """
        line, _ = self._line(begin)
        indentation = self._source[line : min(begin, line + 4)]  # the line may be the whole text
        return len(indentation) < 4 and b"\t" not in indentation


def _code_points(source: bytes) -> Callable[[int], int]:
    """Return a function that converts byte offsets, passed in ascending order, to code points as typed."""
    if source.isascii():
        return int
    done = counted = 0

    def counting(offset: int) -> int:
        nonlocal done, counted
        passed = source[done:offset].decode()
        counted += len(passed) - inserted(passed)
        done = offset
        return counted

    return counting
