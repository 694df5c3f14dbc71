"""A fence that is still open: code is added to it without parsing anything."""

import re
from html import escape
from typing import Self

from .characters import neutralise_code, neutralise_controls
from .figure import code_block
from .sanitise import clean

_OPENING = re.compile(r"(`{3,}|~{3,})[^\r\n]*\n")


class OpenFence:
    """The open fence at the end of a text. A line that may close it is held back until it is whole."""

    def __init__(self, language: str, begin: int, marks: str) -> None:
        self._language = language
        self._begin = self._line = self._shown = (
            begin  # code points: the code, its last line, what is not shown
        )
        self._closing = re.compile(rf"^ {{0,3}}{marks}{marks[0]}*[ \t]*$", re.MULTILINE)
        self._may_close = re.compile(rf" {{0,3}}{marks[0]}*[ \t]*")

    @classmethod
    def at(cls, start: int, text: str, language: str) -> Self | None:
        """The fence that begins there, if its code is the text as it is: not indented, without “\\r”."""
        opening = _OPENING.match(text, start)
        if opening is None:
            return None
        fence = cls(language, opening.end(), opening[1])
        return fence if fence.added(text) is not None else None

    def added(self, text: str) -> str | None:
        """The code that is to be shown now, too; None where the fence may be closed: parse the text."""
        whole = text.rfind("\n", self._line) + 1 or self._line
        if self._closing.search(text, self._line, whole) or "\r" in text[self._line :]:
            return None
        self._line = whole
        before, self._shown = self._shown, whole if self._may_close.fullmatch(text, whole) else len(text)
        return neutralise_code(neutralise_controls(text[before : self._shown]))

    def html(self, text: str) -> str:
        code = neutralise_code(neutralise_controls(text[self._begin : self._shown]))
        return clean(code_block(self._language, escape(code, quote=False)))
