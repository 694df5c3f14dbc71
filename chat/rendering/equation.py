"""An equation in Markdown, as it was typed and as HTML."""

import re
from html import escape
from typing import NamedTuple

from .characters import neutralise_code
from .mathml import mathml

EQUATION_COST = 50  # of each equation, in characters, in addition to its length

_QUOTE_MARKER = re.compile(r"(?<=\n)(?:[ \t]{0,3}>[ \t]?)+")


class Equation(NamedTuple):
    source: str  # with its delimiters, as typed
    tex: str
    display: bool
    closed: bool  # False while it still grows
    quoted: bool  # its lines begin with the “>” of a block quote

    @property
    def cost(self) -> int:
        return len(self.source) + EQUATION_COST

    def html(self) -> str:
        """Return MathML, or the source as it was typed."""
        found = mathml(self.tex, display=self.display) if self.closed else None
        if found is None:
            source = neutralise_code(unquoted(self.source) if self.quoted else self.source)
            return f'<span class="tex" dir="ltr">{escape(source, quote=False)}</span>'
        return f'<span class="equation" tabindex="0">{found}</span>' if self.display else found


def unquoted(tex: str) -> str:
    """Return the lines of an equation in a block quote without its marks."""
    return _QUOTE_MARKER.sub("", tex)
