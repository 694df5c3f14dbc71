"""The HTML of inline elements: text, code, links, images, and the few HTML tags that are honoured.

`Elements` is the base that they share with the blocks.
"""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any, ClassVar
from urllib.parse import quote

from pyromark.event import Range

from . import html_tags, links
from .characters import direction_of, is_bidirectional, neutralise_code, restored
from .definitions import CITATION
from .mathml import Equation
from .maths import pieces, unescaped, unmasked
from .open_end import open_inline
from .sanitise import MAX_HTML_DEPTH

End = str | Callable[[Range], None]


class Elements:
    """The base of the HTML writers. `_out` collects the HTML.

    `_ends` holds the end of each open element: its end tag, or a function to call with the element's range.
    """

    def __init__(self, source: bytes, equations: list[Equation]) -> None:
        self._source = source
        self._equations = equations  # those masked in the source
        self._is_ascii = source.isascii()  # once, because it scans the whole text
        self._out: list[str] = []
        self._ends: list[End] = []
        self._caught: list[str] | None = None  # the text of an element that is written at its end, if open
        self._auto = ""  # the `dir` attribute of elements inside a block
        self._direction = ' dir="ltr"'  # the `dir` attribute of a block that is a container

    def _unmasked(self, text: str, indentation: int = 0) -> str:
        return text if self._is_ascii else restored(unmasked(text, self._equations, indentation))

    def _open(self, start: str, end: End) -> None:
        self._out.append(start)
        self._ends.append(end)

    def _release(self, html: str, span: Range) -> None:
        """Write an element whose text was caught, and stop catching."""
        self._caught = None
        self._out.append(html)

    def _begin(self, span: Range) -> None:
        """Set the `dir` attributes for a top-level block.

        `dir="auto"` ignores descendants that have a `dir` of their own. Therefore a container gets an
        explicit direction, which decides the side of list markers and the order of table columns. The
        elements in it get `dir="auto"` only if the block contains right-to-left text.
        """
        if self._is_ascii:
            return
        text = self._source[span["start"] : span["end"]].decode()
        mixed = is_bidirectional(text)
        self._auto = ' dir="auto"' if mixed else ""
        self._direction = f' dir="{direction_of(text)}"' if mixed else ' dir="ltr"'

    @property
    def _container(self) -> str:
        """The `dir` attribute of a list, a table or a footnote."""
        return self._auto if self._ends else self._direction

    @property
    def _textual(self) -> str:
        """The `dir` attribute of a heading or a block quote."""
        return self._auto if self._ends else ' dir="auto"'


class Inline(Elements):
    """A writer of inline elements.

    `anchors`: see `render`. `growing`: more text follows, so the last words may be the beginning of markup.
    """

    def __init__(self, source: bytes, anchors: str, equations: list[Equation], *, growing: bool) -> None:
        super().__init__(source, equations)
        self._growing = growing
        self._begin_source(source)
        self._anchors = f"fn-{quote(anchors, safe='')}-" if anchors else "fn-"
        self._honoured: list[tuple[int, str]] = []  # (depth, name) of open elements that were written as HTML
        self._ending: list[str] = []  # names of those of them that end with the open paragraph
        self._in_marker = False  # True if the next text begins with the marker of an alert
        self._link: tuple[str, list[str]] | None = None  # (URL, texts) of the open link

    def _begin_source(self, source: bytes) -> None:
        self._source, self._is_ascii = source, source.isascii()
        # The byte offset at which the last words end while the text grows, else beyond the text.
        self._last_words = len(source.rstrip()) if self._growing else len(source) + 1

    def _text(self, text: str, span: Range) -> None:
        if not self._is_ascii:
            text = restored(text)
        if self._in_marker:
            text, self._in_marker = text.partition("]")[2].lstrip(), False
        if self._link:
            self._link[1].append(self._unmasked(text))
            self._out.append(self._words(text, links.escaped))
        elif span["end"] >= self._last_words:
            self._last_text(text)
        else:
            self._out.append(self._words(text, links.autolink) if self._equations else links.autolink(text))

    def _words(self, text: str, write: Callable[[str], str]) -> str:
        """Return the HTML of a text, whose equations may be masked; `write` makes that of the words."""
        if not self._equations:
            return write(text)
        parts = pieces(text, self._equations)
        return "".join(write(words) + (equation.html() if equation else "") for words, equation in parts)

    def _last_text(self, text: str) -> None:
        before, kind, words = open_inline(text)
        self._out.append(self._words(before, links.autolink))
        if kind == "code":
            self._code_words(words)
        elif kind in ("strong", "em"):
            self._out.append(f"<{kind}>{self._words(words, links.escaped)}</{kind}>")
        else:
            self._out.append(self._words(words, links.escaped))

    def _code_words(self, code: str, span: Range | None = None) -> None:
        code = self._unmasked(code)
        if self._link:
            self._link[1].append(code)
        self._out.append(f'<code dir="ltr">{escape(neutralise_code(code), quote=False)}</code>')

    def _html(self, html: str, span: Range) -> None:
        name, end, written = html_tags.tag(html) or ("", "", "")
        depth = len(self._ends)
        if name == "br":
            self._out.append("<br>")
        elif end and self._honoured[-1:] == [(depth, name)]:
            self._honoured.pop()
            self._out.append(written)
        elif name and not end and self._may_begin(name, span):
            self._honoured.append((depth, name))
            self._out.append(written)
        elif (
            html.lower() in ("</details>", "</summary>") and (depth - 1, html[2:-1].lower()) in self._honoured
        ):
            self._ending.append(html[2:-1].lower())
        else:
            self._out.append(escape(self._unmasked(html), quote=False))

    def _may_begin(self, name: str, span: Range) -> bool:
        """Return False for a type parameter, as in “List<S>”, and where elements are nested too deep."""
        before = self._source[max(0, span["start"] - 1) : span["start"]]
        is_parameter = len(name) == 1 and before.isalnum()
        return not is_parameter and len(self._ends) + len(self._honoured) < MAX_HTML_DEPTH

    def _close_honoured(self, name: str = "") -> None:
        """Close the elements written as HTML inside the element that ends now, up to one with this name."""
        while self._honoured and self._honoured[-1][0] == len(self._ends):
            last = self._honoured.pop()[1]
            self._out.append(f"</{last}>")
            if last == name:
                break

    def _line_break(self, _: None, span: Range) -> None:
        """Write a line break for both soft and hard breaks.

        CommonMark leaves soft breaks to the renderer. They are shown, because poems, addresses and lists of
        “•” are written with single line breaks. A `<br>` in the text at the end of a line is not doubled.
        """
        self._out.append("\n" if self._out[-1:] == ["<br>"] else "<br>\n")

    def _footnote_reference(self, label: str, span: Range) -> None:
        label = self._unmasked(label)
        shown = escape(label, quote=False)
        if not self._link:
            shown = f'<a href="#{self._anchor(label)}">{shown}</a>'
        self._out.append(f'<sup class="footnote">{shown}</sup>')

    def _anchor(self, label: str) -> str:
        return self._anchors + quote(label.casefold(), safe="")

    def _start_link(self, details: dict[str, str], span: Range) -> None:
        if details["link_type"] == "ShortcutUnknown" and details["dest_url"].startswith(CITATION):
            return self._start_citation(details["dest_url"].removeprefix(CITATION))
        scheme = "mailto:" if details["link_type"] == "Email" else ""
        address = links.address(scheme + unescaped(restored(details["dest_url"]), self._equations))
        if address is None or self._link:  # an address in angle brackets may stand in a link's text
            return self._ends.append("")
        self._link = (address, [])
        return self._open(links.open_tag(address, title=self._unmasked(details["title"])), self._end_link)

    def _start_citation(self, number: str) -> None:
        if self._link:
            self._out.append("[")
            return self._ends.append("]")
        self._link = ("", [])
        target = f"#{self._anchors}source.{number}"
        return self._open(f'<a class="cite" href="{escape(target)}">[', self._end_citation)

    def _end_citation(self, span: Range) -> None:
        self._link = None
        self._out.append("]</a>")

    def _end_link(self, span: Range) -> None:
        assert self._link
        address, texts = self._link
        self._link = None
        self._out.append("</a>")
        if links.is_deceptive("".join(texts), address):
            self._out.append(f" {links.shown_host(address)}")

    def _image(self, details: dict[str, str], span: Range) -> None:
        self._caught = []
        self._ends.append(partial(self._end_image, details["dest_url"]))

    def _end_image(self, destination: str, span: Range) -> None:
        shown = self._words(restored("".join(self._caught or ()).strip()), links.escaped)
        address = links.address(unescaped(restored(destination), self._equations))
        if address and not self._link:
            shown = f"{shown} {links.shown_host(address)}".lstrip()
            shown = f"{links.open_tag(address, 'image')}{shown}</a>"
        self._release(shown or "🖼", span)

    INLINE: ClassVar[dict[str, Any]] = {
        "Text": _text,
        "Code": _code_words,
        "InlineHtml": _html,
        "SoftBreak": _line_break,
        "HardBreak": _line_break,
        "FootnoteReference": _footnote_reference,
    }
    LINKS: ClassVar[dict[str, Any]] = {"Link": _start_link, "Image": _image}
