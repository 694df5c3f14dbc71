"""A fenced code block that is still open: code is appended to it without parsing."""

import re
from html import escape
from typing import Self

from .characters import neutralise_code, neutralise_controls
from .figure import code_block
from .sanitise import clean

_OPENING = re.compile(r"(`{3,}|~{3,})[^\r\n]*\n")


class OpenFence:
    """The open fence at the end of a text. A line that may close it is held back until it is complete."""

    def __init__(self, language: str, begin: int, marks: str) -> None:
        self._language = language
        # In code points: the beginning of the code, that of its last line, and the end of the shown code.
        self._begin = self._line = self._shown = begin
        self._closing = re.compile(rf"^ {{0,3}}{marks}{marks[0]}*[ \t]*$", re.MULTILINE)
        self._may_close = re.compile(rf" {{0,3}}{marks[0]}*[ \t]*")

    @classmethod
    def at(cls, start: int, text: str, language: str) -> Self | None:
        """Return the open fence that begins at `start`.

        None if it is indented or contains “\\r”, because its code then differs from the source text.
        """
        opening = _OPENING.match(text, start)
        if opening is None:
            return None
        fence = cls(language, opening.end(), opening[1])
        return fence if fence.added(text) is not None else None

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
