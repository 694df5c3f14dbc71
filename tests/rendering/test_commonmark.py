"""Coverage of CommonMark's structure, apart from intended differences."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from chat.rendering.markdown import render

from .documents import EXAMPLES

# Not compared: HTML, which we show as text, and images, which become links.
OTHERWISE = re.compile(
    r"<(?!/?(?:p|h[1-6]|ul|ol|li|blockquote|hr|br|em|strong|code|pre|a)\b)|<a (?!href)|<pre "
)
CAPTION = re.compile("<figcaption>.*?</figcaption>")


class Structure(HTMLParser):
    """Tags and words, without what is ours: classes, directions, figures, and the levels of headings."""

    OURS = ("figure", "figcaption", "div", "span")

    BLOCKS = re.compile(r"p|h[1-6]?|ul|ol|li|blockquote|hr|pre")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._in_pre = False
        self._last = "p"  # the tag, or "" for words, that the next words follow
        self._broken = False  # a line has ended since then
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.OURS:
            self._in_pre |= tag == "pre"
            self._follow(tag)
            told = {name: unquote(value or "") for name, value in attrs if name in ("href", "title", "start")}
            self.seen.append(f"<{self._level(tag)} {told}>")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.OURS:
            self._in_pre &= tag != "pre"
            self._follow(tag)
            self.seen.append(f"</{self._level(tag)}>")

    def handle_data(self, data: str) -> None:
        lines = [data] if self._in_pre else data.split("\n")
        for number, line in enumerate(lines):
            self._broken |= number > 0
            if words := "".join(line.split()):  # a word of code may be in two spans
                self._follow("")
                self.seen += words

    def _follow(self, tag: str) -> None:
        """A line that ends between what stands in lines is a soft break: we show those as line breaks."""
        inline = not (self._is_block(tag) or self._is_block(self._last))
        if self._broken and inline and "br" not in (tag, self._last):
            self.seen.append("<br {}>")
        self._last, self._broken = tag, False

    def _is_block(self, tag: str) -> bool:
        return self.BLOCKS.fullmatch(tag) is not None

    def _level(self, tag: str) -> str:
        return "h" if re.fullmatch("h[1-6]", tag) else tag


def agrees(markdown: str, html: str) -> bool:
    return Structure(CAPTION.sub("", "\n".join(render(markdown)))).seen == Structure(html).seen


@pytest.fixture
def every_link_followed(monkeypatch):
    """The examples' links are relative."""
    monkeypatch.setattr("chat.rendering.links.address", lambda destination: destination)
    monkeypatch.setattr("chat.rendering.markdown.clean", lambda html: html)


PRODUCT = ["5*6*78\n"]  # a product, which CommonMark shows with an emphasised 6
BARE = ["<https://foo.bar/baz bim>\n", "<foo\\+@bar.example.com>\n", "< https://foo.bar >\n"]
BARE += ["https://example.com\n", "foo@bar.example.com\n"]


@pytest.mark.usefixtures("every_link_followed")
def test_examples_have_the_structure_of_the_specification():
    comparable = [(text, html) for text, html in EXAMPLES if not OTHERWISE.search(html) and "<a " not in text]
    assert len(comparable) > 500

    assert [text for text, html in comparable if not agrees(text, html)] == PRODUCT + BARE
