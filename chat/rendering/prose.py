"""A paragraph that is still open: plain words are appended to it without parsing.

Most of what a model writes is plain words, which need no parser because they are text in any context.
Anything that may be markup (a mark, a bracket, a line break, the rest of a URL) is not plain and is left to
the parser.
"""

import re
from html import escape
from typing import Self

# Left-to-right letters, and punctuation that has no meaning in Markdown outside brackets.
_PLAIN = re.compile(
    "[A-Za-z0-9\u00c0-\u024f\u0370-\u052f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3 ,.;!?'\"…–—-]*"
)
_LETTER = re.compile(r"[^\W\d_]")
_ENDING = re.compile(r"[^>\s]((?:</(?:p|li|ul|ol|blockquote)>)+)\Z")
# A quoted title may complete a link definition; “\r” ends a line, too.
_UNSURE = re.compile(r"\]:|\r")


class OpenParagraph:
    """The open paragraph, list item or block quote at the end of a text."""

    def __init__(self, html: str, ending: str, shown: int) -> None:
        self._begun = html[: -len(ending)]
        self._ending = ending
        self._parsed = self._shown = shown  # offsets in code points, before any spaces at the text's end

    @classmethod
    def at(cls, start: int, text: str, html: str) -> Self | None:
        """Return the paragraph at the end of the last block, which begins at `start` and is fully rendered.

        None if words appended to it may be markup.
        """
        ending = _ENDING.search(html)
        # HTML blocks end by rules of their own.
        if ending is None or _UNSURE.search(text, start) or '<p class="html"' in html:
            return None
        shown = len(text.rstrip(" "))
        line = text.rfind("\n", start) + 1 or start
        prose = cls(html, ending[1], shown)
        return prose if _LETTER.search(text, line) and prose._is_plain(text) else None

    def added(self, text: str) -> str | None:
        """Return the words to append; None if they are not plain, so the text has to be parsed."""
        if not self._is_plain(text):
            return None
        before, self._shown = self._shown, max(self._shown, len(text.rstrip(" ")))
        return text[before : self._shown]

    def html(self, text: str) -> str:
        """Return the block's HTML: its sanitised markup and the appended words, escaped."""
        return self._begun + escape(text[self._parsed : self._shown], quote=False) + self._ending

    def _is_plain(self, text: str) -> bool:
        """Return True if the text is plain from its last shown word on, which may be an incomplete URL."""
        word = max(text.rfind(" ", 0, self._shown), text.rfind("\n", 0, self._shown)) + 1
        return _PLAIN.fullmatch(text, word) is not None and "www." not in text[word:]
