"""The text of a web page."""

import re
from html.parser import HTMLParser
from typing import Any

SKIPPED = {"script", "style", "template", "svg", "math", "iframe", "object", "noscript", "head"}
INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|meter|output|q|rp|rt|ruby|"
    "s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)


class TextOfHtml(HTMLParser):
    """Collect the text of a page: a line for each block, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "body":
            self._skipped.clear()  # a head that was never closed
        if tag in SKIPPED:
            self._skipped.append(tag)
        elif tag in ("td", "th"):
            self.parts.append("\t")
        elif tag == "li":
            self.parts.append("\n- ")
        elif not INLINE.fullmatch(tag):
            self.parts.append("\n")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        if not INLINE.fullmatch(tag) and tag not in SKIPPED:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipped:
            del self._skipped[self._skipped.index(tag) :]
        elif tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "blockquote", "pre"):
            self.parts.append("\n\n")
        elif tag == "tr":
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(" ".join(re.split(r"[ \t\r\n\f]+", data)))


def html_text(text: str) -> str:
    parser = TextOfHtml()
    parser.feed(text)
    parser.close()
    return "\n".join(line.strip(" ") for line in "".join(parser.parts).split("\n"))
