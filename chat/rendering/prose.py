"""A paragraph that is still open: plain words are added to it without parsing anything.

Most of what a model writes is plain words, and a parser has nothing to say to them: they are text, whatever
stands around them. What could mean more (a mark, a bracket, a line break, the rest of an address) is not
plain, and is left to the parser.
"""

import re
from html import escape
from typing import Self

# Letters that run from left to right, and punctuation that means nothing in Markdown but in brackets.
_PLAIN = re.compile(
    "[A-Za-z0-9\u00c0-\u024f\u0370-\u052f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3 ,.;!?'\"…–—-]*"
)
_LETTER = re.compile(r"[^\W\d_]")
_ENDING = re.compile(r"[^>\s]((?:</(?:p|li|ul|ol|blockquote)>)+)\Z")
# A title in quotes may complete a definition; a “\r” ends a line, too.
_UNSURE = re.compile(r"\]:|\r")


class OpenParagraph:
    """The last words of a text, where they are a paragraph's, a list item's or a quotation's."""

    def __init__(self, html: str, ending: str, shown: int) -> None:
        self._begun = html[: -len(ending)]
        self._ending = ending
        self._parsed = self._shown = shown  # code points of the whole text; spaces at its end are not shown

    @classmethod
    def at(cls, start: int, text: str, html: str) -> Self | None:
        """The last block, which begins there and of which all is shown; None where words may mean more."""
        ending = _ENDING.search(html)
        # Blocks of HTML end by rules of their own.
        if ending is None or _UNSURE.search(text, start) or '<p class="html"' in html:
            return None
        shown = len(text.rstrip(" "))
        line = text.rfind("\n", start) + 1 or start
        prose = cls(html, ending[1], shown)
        return prose if _LETTER.search(text, line) and prose._is_plain(text) else None

    def added(self, text: str) -> str | None:
        """The words that are to be shown now, too; None where they are not plain: parse the text."""
        if not self._is_plain(text):
            return None
        before, self._shown = self._shown, max(self._shown, len(text.rstrip(" ")))
        return text[before : self._shown]

    def html(self, text: str) -> str:
        """The whole block as it is shown; its markup was sanitised, and the words since then are escaped."""
        return self._begun + escape(text[self._parsed : self._shown], quote=False) + self._ending

    def _is_plain(self, text: str) -> bool:
        """From the last word's beginning on: it may be an address that goes on."""
        word = max(text.rfind(" ", 0, self._shown), text.rfind("\n", 0, self._shown)) + 1
        return _PLAIN.fullmatch(text, word) is not None and "www." not in text[word:]
