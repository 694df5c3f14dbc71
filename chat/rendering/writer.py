"""Conversion of the parser's events to HTML, block by block; the HTML is not yet sanitised."""

import re
from functools import partial
from html import escape
from itertools import takewhile
from typing import Any, ClassVar

from pyromark.event import Range

from . import html_tags
from .characters import JOINER, neutralise_code, restored
from .code_blocks import Budget, code_block, highlighted, is_closed, language_of
from .definitions import PARSER
from .emphasis import amended
from .inline import Inline
from .links import hide_marks
from .mathml import Equation
from .sanitise import MAX_HTML_DEPTH
from .tables import Tables, shaped

MarkdownEvent = Any  # a name, or a dictionary from one name to its details: see pyromark.event

ABOVE = 2  # heading levels above those of a text: the page's and the message's

ELEMENTS = {
    "Emphasis": ("<em>", "</em>"),
    "Strong": ("<strong>", "</strong>"),
    "Strikethrough": ("<del>", "</del>"),
}

_MARKER = re.compile(rb">[ \t]?\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]+\S", re.IGNORECASE)
_PARAGRAPH = ({"Start": "Paragraph"}, {"End": "Paragraph"})


def for_parser(source: str) -> str:
    return amended(shaped(hide_marks(source)))


class HtmlWriter(Inline, Tables):
    """A writer of one top-level block after the other.

    `growing`: more text follows, so a fence that is open at the end stays plain, because it would have to be
    highlighted again with every word.
    """

    def __init__(
        self,
        source: bytes,
        anchors: str,
        outline: tuple[int, ...] = (),
        *,
        budget: Budget,
        equations: list[Equation],
        growing: bool,
    ) -> None:
        super().__init__(source, anchors, equations, growing=growing)
        self._budget = budget
        self.outline = outline  # the levels of the headings that enclose the next block, as in the source
        self._footnotes: list[str] = []  # the labels defined in this block
        self.open_fence: str | None = None  # the language of the last block, if it is an open fence
        self._parts = 0  # the number of elements that a block of HTML consists of

    @property
    def between(self) -> bool:
        """True if no block is open: the previous one is complete."""
        return not self._ends and not self._honoured

    @property
    def length(self) -> int:
        return len(self._source)

    def taken(self) -> tuple[str, tuple[str, ...]]:
        """Return (HTML, labels of the defined footnotes) of the complete block, and clear the output."""
        html, footnotes = "".join(self._out), tuple(self._footnotes)
        html, self._parts = (f"<div>{html}</div>" if self._parts > 1 else html), 0
        self._out.clear()
        self._footnotes.clear()
        return html, footnotes

    def finish(self) -> None:
        """End the part that unfolds in which the text ends. A reader must not miss what it holds."""
        if not self._growing:
            first = self._out.index("<details>")
            self._out[first] = "<details open>"
        self._close_honoured()

    def write(self, event: MarkdownEvent, span: Range) -> None:
        name, value = split_event(event)
        if name == "Start":
            self._start(value, span)
        elif name == "End":
            self._end(span)
        elif self._caught is not None:
            self._caught.append(value if isinstance(value, str) else " ")
        else:
            self.SINGLE[name](self, value, span)

    def _start(self, element: MarkdownEvent, span: Range) -> None:
        name, details = split_event(element)
        if not self._ends:
            self._begin(span)
        if self._caught is not None or len(self._ends) + len(self._honoured) >= MAX_HTML_DEPTH:
            self._ends.append("")
        elif name in ELEMENTS:
            self._open(*ELEMENTS[name])
        else:
            self.STARTS[name](self, details, span)

    def _end(self, span: Range) -> None:
        self._close_honoured()
        end = self._ends.pop()
        if isinstance(end, str):
            self._out.append(end)
        else:
            end(span)
        while self._ending:
            self._close_honoured(self._ending.pop(0))

    def _paragraph(self, _: None, span: Range) -> None:
        self._open("<p>" if self._ends else '<p dir="auto">', "</p>")

    def _heading(self, details: dict[str, Any], span: Range) -> None:
        """Open a heading one level below the heading that encloses it, even if the text skips levels."""
        level = int(details["level"][1])
        self.outline = (*takewhile(lambda above: above < level, self.outline), level)
        name = f"h{min(6, ABOVE + len(self.outline))}"
        self._open(f"<{name}{self._textual}>", f"</{name}>")

    def _rule(self, _: None, span: Range) -> None:
        self._out.append("<hr>")

    def _quote(self, kind: str | None, span: Range) -> None:
        """Open a quotation, or an alert. Models write an alert's text in the line of its marker, too."""
        marker = None if kind else _MARKER.match(self._source, span["start"])
        if marker:
            kind, self._in_marker = marker[1].decode(), True
        if kind is None:
            return self._open(f"<blockquote{self._textual}>", "</blockquote>")
        self._open(f'<blockquote class="{kind.lower()}"{self._textual}>', "</blockquote>")
        self._out.append(f'<p class="alert">{kind.capitalize()}</p>')
        return None

    def _html_block(self, _: None, span: Range) -> None:
        self._caught = []
        self._ends.append(self._end_html_block)

    def _end_html_block(self, span: Range) -> None:
        html = restored("".join(self._caught or ()))
        self._caught = None
        growing = self._growing
        self._growing = growing and span["end"] == len(self._source)
        is_folded = (len(self._ends), "details") in self._honoured
        for kind, part in html_tags.parts(html, in_details=is_folded):
            self._html_part(kind, part)
        self._growing = growing

    def _html_part(self, kind: str, part: str) -> None:
        """Write a part of a block of HTML, see `html_tags.parts`."""
        if not part.strip():
            return
        depth = len(self._ends)
        self._parts += self.between and kind != "words"
        if kind == "words":
            self._nested(part.strip())
        elif kind == "details" and depth + len(self._honoured) < MAX_HTML_DEPTH - 1:
            self._honoured.append((depth, kind))
            self._out.append("<details>")
        elif kind == "summary" and self._honoured[-1:] == [(depth, "details")]:
            self._honoured.append((depth, kind))
            self._out.append('<summary dir="auto">')
        elif kind[0] == "/" and (depth, kind[1:]) in self._honoured:
            self._close_honoured(kind[1:])
        else:
            text = escape(self._unmasked(part).rstrip("\r\n"), quote=False)
            self._out.append(f'<p class="html" dir="auto">{text}</p>')

    def _nested(self, markdown: str) -> None:
        """Write Markdown that stands beside tags. A tag at its beginning begins no block of HTML again."""
        text = for_parser(JOINER + markdown if markdown[0] == "<" else markdown)
        outer = self._source, self._is_ascii, self._last_words
        self._begin_source(text.encode())
        in_summary = self._honoured[-1:] == [(len(self._ends), "summary")]
        for event, span in PARSER.events_with_range(text, merge_text=True):
            if in_summary and event in _PARAGRAPH:
                continue
            self._parts += self.between
            self.write(event, span)
        self._source, self._is_ascii, self._last_words = outer

    def _list(self, first: int | None, span: Range) -> None:
        name = "ul" if first is None else "ol"
        start = "" if first in (None, 1) else f' start="{first}"'
        self._open(f"<{name}{start}{'' if self._ends else self._direction}>", f"</{name}>")

    def _item(self, _: None, span: Range) -> None:
        """Open a list item without `dir`, which would move its marker out of the list.

        The style sheet sets the direction of the item's text only.
        """
        self._open("<li>", "</li>")

    def _task(self, done: bool, span: Range) -> None:
        for place in range(len(self._out))[-2:]:  # the item's start tag, which a paragraph's may follow
            if self._out[place].startswith("<li"):
                self._out[place] = self._out[place].replace("<li", '<li class="task"', 1)
        self._out.append(f'<span class="checkbox">{"☑" if done else "☐"}</span> ')

    def _footnote(self, label: str, span: Range) -> None:
        self._footnotes.append(self._unmasked(label))
        label = self._unmasked(label)
        name = f'<span class="label">{escape(label, quote=False)}</span>'
        start = f'<div class="footnote" id="{self._anchor(label)}"{self._container}>'
        self._open(f"{start}{name}<div>", "</div></div>")

    def _code(self, kind: MarkdownEvent, span: Range) -> None:
        self._caught = []
        self._ends.append(partial(self._end_code, None if kind == "Indented" else kind["Fenced"]))

    def _end_code(self, info: str | None, span: Range) -> None:
        code = neutralise_code(self._unmasked("".join(self._caught or ()), self._indentation(info, span)))
        language = language_of(info or "")
        source = self._source[span["start"] : span["end"]]
        grows = self._growing and span["end"] == len(self._source)
        is_open = grows and (info is None or not is_closed(source))
        self.open_fence = language if is_open and info is not None and self.between else None
        shown = escape(code, quote=False) if is_open else highlighted(code, language, self._budget)
        self._release(code_block(language, shown), span)

    def _indentation(self, info: str | None, span: Range) -> int:
        """Return the columns by which the lines of a code block are indented in the source."""
        line = self._source.rfind(b"\n", 0, span["start"]) + 1
        return span["start"] - line + (4 if info is None and span["start"] == line else 0)

    # A block of HTML that is nested too deep is not caught: its lines are shown as inline HTML is.
    SINGLE: ClassVar[dict[str, Any]] = {
        **Inline.INLINE,
        "Html": Inline._html,
        "Rule": _rule,
        "TaskListMarker": _task,
    }
    STARTS: ClassVar[dict[str, Any]] = {
        **Inline.LINKS,
        **Tables.TABLES,
        "Paragraph": _paragraph,
        "Heading": _heading,
        "BlockQuote": _quote,
        "HtmlBlock": _html_block,
        "List": _list,
        "Item": _item,
        "FootnoteDefinition": _footnote,
        "CodeBlock": _code,
    }


def split_event(event: MarkdownEvent) -> tuple[str, Any]:
    """Return (name, details or None)."""
    if isinstance(event, str):
        return event, None
    [item] = event.items()
    return item
