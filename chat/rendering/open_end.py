"""The open end of a growing text.

Incomplete markup is held back or shown as complete, to avoid flicker. Plain words in an open paragraph and
code in an open fence are appended without parsing.
"""

import re
from html import escape
from typing import Self

from .characters import neutralise_code, neutralise_controls
from .code_blocks import code_block, has_first_line
from .fences import MARKDOWN
from .sanitise import clean

MAX_OPEN_CHARS = 300  # markup that begins farther from the end is neither held back nor completed

# A line of marks alone may become a list, a heading, a rule or a fence; “-” can even turn the line above into
# a heading.
_DOUBTFUL = re.compile(
    r"[ \t>]*(?:[-+*=_#|~`]+|\d{1,9}[.)]?|(?:`{3,}|~{3,})[^\n]*)[ \t]*\Z|[ \t>]+\Z"
    r"|[ \t>]*>[ \t]*\[!?[A-Za-z]*\]?[ \t]*\Z"  # the marker of an alert
    r"|[ \t>]*</?[A-Za-z][^>\n]{0,40}\Z"  # a tag
)
_TAG_BEGUN = re.compile(r"</?[A-Za-z]*\Z")
MAX_TAG_BEGUN = 12  # characters, as of “</summary”
_TABLE_HEAD = re.compile(r"(?:\A|\n[ \t]*\n)(\|[^\n]*(?:\n[ \t:|-]*)?)\Z")

_BEGUN = re.compile(
    r"`+(?P<code>[^`]+)\Z|\*\*(?=\S)(?P<strong>[^*]+)\Z|(?<![\w*])\*(?=\S)(?P<em>[^*]+)\Z"
    r"|!?\[(?P<link>[^\[\]]+)\]\([^()\s]*\Z"
)

# Left-to-right letters, and punctuation that has no meaning in Markdown outside brackets.
_PLAIN_WORDS = re.compile(
    "[A-Za-z0-9\u00c0-\u024f\u0370-\u052f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3 ,.;!?'\"…–—-]*"
)
_LETTER = re.compile(r"[^\W\d_]")
_ENDING = re.compile(r"[^>\s]((?:</(?:p|li|ul|ol|blockquote)>)+)\Z")
# A quoted title may complete a link definition; “\r” ends a line, too.
_UNSURE = re.compile(r"\]:|\r")

_OPENING = re.compile(r"(`{3,}|~{3,})[^\r\n]*\n")


def stable_prefix(text: str) -> str:
    """Return the text without its ambiguous end: its last line, a table's head, or marks at the very end."""
    if head := _TABLE_HEAD.search(text, max(0, len(text) - MAX_OPEN_CHARS)):
        return text[: head.start(1)]
    line = text.rfind("\n") + 1
    if not _DOUBTFUL.match(text, line):
        text = text.rstrip("*_~`")
        tag = text.rfind("<", max(0, len(text) - MAX_TAG_BEGUN))
        text = text[:tag] if tag >= 0 and _TAG_BEGUN.match(text, tag) else text
    return text[:line] if _DOUBTFUL.match(text, line) else text


def open_inline(text: str) -> tuple[str, str, str]:
    """Return (text before the markup that is open at the end, kind of the markup, text in it).

    The kind is "code", "strong", "em", "link", or "" if there is none.
    """
    found = _BEGUN.search(text, max(0, len(text) - MAX_OPEN_CHARS))
    if found is None:
        return text, "", ""
    kind = str(found.lastgroup)
    return text[: found.start()], kind, found[kind]


class OpenParagraph:
    """The open paragraph, list item or block quote at the end of a text.

    Most of what a model writes is plain words, which need no parser because they are text in any context.
    Anything that may be markup (a mark, a bracket, a line break, the rest of a URL) is not plain and is left
    to the parser.
    """

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
        paragraph = cls(html, ending[1], shown)
        return paragraph if _LETTER.search(text, line) and paragraph._is_plain(text) else None

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
        return _PLAIN_WORDS.fullmatch(text, word) is not None and "www." not in text[word:].lower()


class OpenFence:
    """The open fence at the end of a text. A line that may close it is held back until it is complete."""

    def __init__(self, language: str, begin: int, marks: str) -> None:
        self._language = language
        # In code points: the beginning of the code, that of its last line, and the end of the shown code.
        self._begin = self._line = self._shown = begin
        # In Markdown, a fence that begins changes which one ends.
        behind = r"[^\n]*" if language in MARKDOWN else r"[ \t]*"
        self._closing = re.compile(rf"^ {{0,3}}{marks}{marks[0]}*{behind}$", re.MULTILINE)
        self._may_close = re.compile(rf" {{0,3}}(?:{marks[0]}+{behind}|[ \t]*)")

    @classmethod
    def at(cls, start: int, text: str, language: str) -> Self | None:
        """Return the open fence that begins at `start`.

        None if it is indented or contains “\\r”, because its code then differs from the source text, or while
        its first line is to tell whether it is code.
        """
        opening = _OPENING.match(text, start)
        if opening is None or not (language or has_first_line(text[opening.end() :])):
            return None
        fence = cls(language, opening.end(), opening[1])
        if language in MARKDOWN:
            fence._skip_fences(text)
        return fence if fence.added(text) is not None else None

    def _skip_fences(self, text: str) -> None:
        """Go on behind the fences that the code holds so far, which the parser has read."""
        for match in self._closing.finditer(text, self._line, text.rfind("\n") + 1):
            self._line = match.end() + 1

    def added(self, text: str) -> str | None:
        """Return the code to append; None if the fence may be closed, so the text has to be parsed."""
        whole = text.rfind("\n", self._line) + 1 or self._line
        if self._closing.search(text, self._line, whole) or "\r" in text[self._line :]:
            return None
        self._line = whole
        before, self._shown = self._shown, whole if self._may_close.fullmatch(text, whole) else len(text)
        return neutralise_code(neutralise_controls(text[before : self._shown]))

    def html(self, text: str) -> str:
        code = neutralise_code(neutralise_controls(text[self._begin : self._shown]))
        return clean(code_block(self._language, escape(code, quote=False)))
