"""The HTML of inline elements: text, code, links, images, and the few HTML tags that are honoured."""

import re
from functools import partial
from html import escape
from typing import Any, ClassVar
from urllib.parse import quote

from pyromark.event import Range

from . import links, unfinished
from .characters import neutralise_code
from .elements import Elements
from .sanitise import MAX_DEPTH

_HONOURED = re.compile(r"<(?:(br) ?/?|(/?)(kbd|sub|sup))>", re.IGNORECASE)


class Inline(Elements):
    """A writer of inline elements.

    `anchors`: see `render`. `growing`: more text follows, so the last words may be the beginning of markup.
    """

    def __init__(self, source: bytes, anchors: str, *, growing: bool) -> None:
        super().__init__(source)
        self._anchors = f"fn-{quote(anchors, safe='')}-" if anchors else "fn-"
        # The byte offset at which the last words end while the text grows, else beyond the text.
        self._last_words = len(source.rstrip()) if growing else len(source) + 1
        self._honoured: list[tuple[int, str]] = []  # (depth, name) of open elements that were written as HTML
        self._link: tuple[str, list[str]] | None = None  # (URL, texts) of the open link

    def _text(self, text: str, span: Range) -> None:
        if self._link:
            self._link[1].append(text)
            self._out.append(escape(text, quote=False))
        elif span["end"] >= self._last_words:
            self._last_text(text)
        else:
            self._out.append(links.autolink(text))

    def _last_text(self, text: str) -> None:
        before, kind, words = unfinished.open_inline(text)
        self._out.append(links.autolink(before))
        if kind == "code":
            self._code_words(words)
        elif kind in ("strong", "em"):
            self._out.append(f"<{kind}>{escape(words, quote=False)}</{kind}>")
        else:
            self._out.append(escape(words, quote=False))

    def _code_words(self, code: str, span: Range | None = None) -> None:
        if self._link:
            self._link[1].append(code)
        self._out.append(f'<code dir="ltr">{escape(neutralise_code(code), quote=False)}</code>')

    def _html(self, html: str, span: Range) -> None:
        match, depth = _HONOURED.fullmatch(html.rstrip()), len(self._ends)
        name = match and (match[3] or "").lower()
        if match and match[1]:
            self._out.append("<br>")
        elif match and match[2] and self._honoured[-1:] == [(depth, name)]:
            self._honoured.pop()
            self._out.append(f"</{name}>")
        elif match and name and not match[2] and depth + len(self._honoured) < MAX_DEPTH:
            self._honoured.append((depth, name))
            self._out.append(f"<{name}>")
        else:
            self._out.append(escape(html, quote=False))

    def _close_honoured(self) -> None:
        """Close the elements written as HTML inside the element that ends now."""
        while self._honoured and self._honoured[-1][0] == len(self._ends):
            self._out.append(f"</{self._honoured.pop()[1]}>")

    def _line_break(self, _: None, span: Range) -> None:
        """Write a line break for both soft and hard breaks.

        CommonMark leaves soft breaks to the renderer. They are shown, because poems, addresses and lists of
        “•” are written with single line breaks. A `<br>` in the text at the end of a line is not doubled.
        """
        self._out.append("\n" if self._out[-1:] == ["<br>"] else "<br>\n")

    def _footnote_reference(self, label: str, span: Range) -> None:
        shown = escape(label, quote=False)
        if not self._link:
            shown = f'<a href="#{self._anchor(label)}">{shown}</a>'
        self._out.append(f'<sup class="footnote">{shown}</sup>')

    def _anchor(self, label: str) -> str:
        return self._anchors + quote(label.casefold(), safe="")

    def _start_link(self, details: dict[str, str], span: Range) -> None:
        scheme = "mailto:" if details["link_type"] == "Email" else ""
        address = links.address(scheme + details["dest_url"])
        if address is None:
            return self._ends.append("")
        self._link = (address, [])
        return self._open(links.open_tag(address, title=details["title"]), self._end_link)

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
        shown = escape("".join(self._caught or ()).strip(), quote=False)
        address = links.address(destination)
        if address and not self._link:
            shown = f"{shown} {links.shown_host(address)}".lstrip()
            shown = f"{links.open_tag(address, 'image')}{shown}</a>"
        self._release(shown or "🖼", span)

    INLINE: ClassVar[dict[str, Any]] = {
        "Text": _text,
        "Code": _code_words,
        "Html": _html,
        "InlineHtml": _html,
        "SoftBreak": _line_break,
        "HardBreak": _line_break,
        "FootnoteReference": _footnote_reference,
    }
    LINKS: ClassVar[dict[str, Any]] = {"Link": _start_link, "Image": _image}
