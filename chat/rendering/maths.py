r"""Equations in Markdown: `\(…\)` and `$…$` in a line; `\[…\]`, `$$…$$` and environments of LaTeX apart.

The Markdown parser must not see an equation, whose underscores, pipes, backslashes and line breaks mean
something else to it. Therefore each equation is masked by a word of the same length in code points, without a
line break, which the writer replaces again. An equation is recognised by the lines up to the next blank line
alone, so that a text has the same equations whole and in parts.
"""

import re
from bisect import bisect_right
from html import escape
from itertools import accumulate
from typing import NamedTuple

from .characters import PIPE, RESERVED, neutralise_code
from .mathml import mathml

MAX_INLINE_CHARS = 1_000
MAX_DISPLAY_CHARS = 4_000
# Maximum of all equations of a message, in characters: each costs its length plus EQUATION_COST.
MATHS_BUDGET_CHARS = 100_000
EQUATION_COST = 50
MAX_PREFIX_CHARS = 1_000  # a block quote is not seen farther from the equation

# A mask is “$”, the number of the equation as a reserved character, fillers, and “$”.
_FIRST = ord(RESERVED[0]) + 1
_FILLER = RESERVED[0]
_MASK = re.compile(f"\\$([{chr(_FIRST)}-{chr(ord(PIPE) - 1)}]){_FILLER}*\\$")

# The environments that are equations without any delimiters around them, as in LaTeX.
ENVIRONMENTS = "align|alignat|eqnarray|equation|gather|multline"

# Tokens that may begin or end an equation, pairs of a backslash and a character, code, and ends of lines. A
# blank line, and one that may open or close a fence, is a boundary: no equation goes beyond it.
_TOKEN = re.compile(
    rf"(?P<environment>\\(?:begin|end)\{{(?:{ENVIRONMENTS})\*?\}})"
    r"|(?P<pair>\\[^\n])|(?P<dollars>\$+)|(?P<ticks>`+)"
    r"|(?P<fence>^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:`{3,}|~{3,})[^\n]*)"
    r"|(?P<line>\n)(?P<blank>[ \t>]*(?=\n))?",
    re.MULTILINE,
)
_INLINE = {"\\(": "\\)", "$": "$"}
_DISPLAY = {"\\[": "\\]", "$$": "$$"} | {
    f"\\begin{{{name}{star}}}": f"\\end{{{name}{star}}}"
    for name in ENVIRONMENTS.split("|")
    for star in ("", "*")
}
_ENDS = _INLINE | _DISPLAY

# A price, a shell variable or the end of a regular expression is not an equation.
_BEFORE = re.compile(r"[A-Za-z0-9$^\\)\]]")
_AFTER = re.compile(r"[A-Za-z0-9$({\[\\]")
_ORDINAL = re.compile(r"(?:th|st|nd|rd|s)\b")
_MEANT = re.compile(r"\w")
_MATHS_SIGN = re.compile(r"[\\^_=+<>{}/*|&]|\d\s*-|-\s*\d")
_COMMANDS = re.compile(r"\\[A-Za-z]+\*?|\{[^{}]*\}")
_WORDS = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2,}[,.;:]?\s+[A-Za-z]{2,}(?![A-Za-z0-9(^_=])")
_AMOUNT = re.compile(r"\s*[\d.,]+\S*\s+(?:[A-Za-z]{3,}|to|or|vs|in|at|on|of|is|a)(?![A-Za-z(^_])")
_UNFINISHED = re.compile(r"[\\^_{]")
_QUOTE = re.compile(r"[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*>")
_QUOTE_MARKER = re.compile(r"(?<=\n)(?:[ \t]{0,3}>[ \t]?)+")
_ESCAPED_DELIMITER = re.compile(r"\\([()\[\]])")


class Equation(NamedTuple):
    source: str  # with its delimiters, as typed
    tex: str
    display: bool
    closed: bool  # False while it still grows
    quoted: bool  # its lines begin with the “>” of a block quote

    def html(self) -> str:
        """Return MathML, or the source as it was typed."""
        found = mathml(self.tex, display=self.display) if self.closed else None
        if found is None:
            source = neutralise_code(_QUOTE_MARKER.sub("", self.source) if self.quoted else self.source)
            return f'<span class="tex" dir="ltr">{escape(source, quote=False)}</span>'
        return f'<span class="equation" tabindex="0">{found}</span>' if self.display else found


class Masked(NamedTuple):
    """A text with masks, and its equations."""

    text: str
    equations: list[Equation]
    ends: list[int]  # the offsets at which the equations end, in code points
    spent: list[int]  # what the equations up to each of these cost

    def left(self, left: int, offset: int) -> int:
        """Return what remains of `left` characters behind the equations that end up to this offset."""
        ended = bisect_right(self.ends, offset)
        return left - self.spent[ended - 1] if ended else left


def mask(text: str, left: int = MATHS_BUDGET_CHARS, *, growing: bool = False) -> Masked:
    """Mask the equations in a text, up to `left` characters of them.

    `growing`: more text follows; an equation that is open at the end is masked, too, and shows its source.
    """
    if not any(each in text for each in ("$", "\\(", "\\[", "\\begin{")):
        return Masked(text, [], [], [])
    return _Scan(text, left, growing=growing).masked()


def pieces(text: str, equations: list[Equation]) -> list[tuple[str, Equation | None]]:
    """Split a text with masks into (words, the equation behind them)."""
    parts = _MASK.split(text)
    found: list[tuple[str, Equation | None]] = [
        (parts[at], equations[ord(parts[at + 1]) - _FIRST]) for at in range(0, len(parts) - 1, 2)
    ]
    return [*found, (parts[-1], None)]


def unmasked(text: str, equations: list[Equation], indentation: int = 0) -> str:
    """Return a text with the sources of the masked equations.

    `indentation`: the columns by which the lines of a code block are indented in the source.
    """
    if not equations:
        return text
    later = re.compile(rf"(?<=\n)[ \t>]{{0,{indentation}}}")
    out = []
    for words, equation in pieces(text, equations):
        out += [words, later.sub("", equation.source) if equation else ""]
    return "".join(out)


def unescaped(destination: str, equations: list[Equation]) -> str:
    """Return the destination of a link as the parser would have read it without masks."""
    return _ESCAPED_DELIMITER.sub(r"\1", unmasked(destination, equations)) if equations else destination


class _Token(NamedTuple):
    kind: str
    begin: int
    end: int


class _Scan:
    """The search for the equations of one text, from left to right, in linear time."""

    def __init__(self, text: str, left: int, *, growing: bool) -> None:
        self._text = text
        self._left = left
        self._growing = growing
        self._tokens = [_token(match) for match in _TOKEN.finditer(text)]
        self._closers = self._matched()
        self._last_boundary = self._last("blank", "fence")
        self._last_stop = self._last("line", "blank", "fence", "ticks", "$", "$$", "\\(", "\\[")

    def masked(self) -> Masked:
        out: list[str] = []
        equations: list[Equation] = []
        ends: list[int] = []
        at = done = 0
        while at < len(self._tokens):
            begin = self._tokens[at].begin
            next_, end, equation = self._read(at)
            if equation is None or _cost(equation) > self._left:
                at = next_ if equation is None else at + 1
                continue
            at = next_
            self._left -= _cost(equation)
            number = chr(_FIRST + len(equations))
            out += [self._text[done:begin], "$", number, _FILLER * (end - begin - 3), "$"]
            equations.append(equation)
            ends.append(end)
            done = end
        spent = list(accumulate(map(_cost, equations)))
        return Masked("".join([*out, self._text[done:]]), equations, ends, spent)

    def _read(self, at: int) -> tuple[int, int, Equation | None]:
        """Return (index of the token to go on with, end of the equation, the equation at this token)."""
        token, closer = self._tokens[at], self._closers[at]
        if token.kind == "ticks":
            return (at if closer is None else closer) + 1, 0, None
        if token.kind not in _ENDS:
            return at + 1, 0, None
        if closer is None:
            return self._read_open(at)
        equation = self._equation(token, self._tokens[closer])
        return (closer + 1, self._tokens[closer].end, equation) if equation else (at + 1, 0, None)

    def _read_open(self, at: int) -> tuple[int, int, Equation | None]:
        """Read an equation that is open at the end of a growing text."""
        token, end = self._tokens[at], len(self._text)
        if not (self._growing and self._reaches_end(at) and 3 <= end - token.begin <= _limit(token.kind)):
            return at + 1, 0, None
        source = self._text[token.begin :]
        if token.kind == "$" and not self._is_begun(token, source[1:]):
            return at + 1, 0, None
        return len(self._tokens), end, Equation(source, "", False, False, self._is_quoted(token))

    def _is_begun(self, opener: _Token, inner: str) -> bool:
        return self._may_open(opener) and not _is_prose(inner) and _UNFINISHED.search(inner) is not None

    def _reaches_end(self, at: int) -> bool:
        """Return True if nothing up to the end of the text ends this equation."""
        return at >= (self._last_boundary if self._tokens[at].kind in _DISPLAY else self._last_stop)

    def _last(self, *kinds: str) -> int:
        """Return the index of the last token of these kinds, or -1."""
        places = range(len(self._tokens) - 1, -1, -1)
        return next((at for at in places if self._tokens[at].kind in kinds), -1)

    def _matched(self) -> list[int | None]:
        """Return for each token the index of the token that would end what it begins."""
        closers: list[int | None] = [None] * len(self._tokens)
        after: dict[str, int] = {}  # from the kind, or the number of backticks, to the next one in the line
        apart: dict[str, int] = {}  # the next one before a boundary
        for at in range(len(self._tokens) - 1, -1, -1):
            token = self._tokens[at]
            if token.kind in ("blank", "fence"):
                apart.clear()
            if token.kind in ("line", "blank", "fence"):
                after.clear()
            elif token.kind == "ticks":
                name = f"`{token.end - token.begin}"
                closers[at] = after.get(name)
                after[name] = at
            else:
                closers[at] = self._closer(token.kind, after, apart)
                after[token.kind] = apart[token.kind] = at
                if token.kind[0] == "$":
                    after["$"] = at
        return closers

    def _closer(self, kind: str, after: dict[str, int], apart: dict[str, int]) -> int | None:
        if kind not in _ENDS:
            return None
        near = apart if kind in _DISPLAY else after
        closer = near.get(_ENDS[kind])
        nested = near.get(kind) if kind[0] == "\\" else None  # “\\( \\( \\)”
        if closer is None or (nested is not None and nested < closer):
            return None
        return closer

    def _equation(self, opener: _Token, closer: _Token) -> Equation | None:
        if closer.kind != _ENDS[opener.kind] or closer.end - opener.begin > _limit(opener.kind):
            return None
        inner = self._text[opener.end : closer.begin]
        if not _MEANT.search(inner) or not self._is_maths(opener, closer, inner):
            return None
        quoted = "\n" in inner and self._is_quoted(opener)
        source = self._text[opener.begin : closer.end]
        tex = source if opener.kind.startswith("\\begin") else inner
        tex = (_QUOTE_MARKER.sub("", tex) if quoted else tex).strip()
        return Equation(source, tex, opener.kind in _DISPLAY, True, quoted)

    def _is_maths(self, opener: _Token, closer: _Token, inner: str) -> bool:
        if opener.kind == "$":
            return self._may_open(opener) and self._may_close(closer) and not _is_prose(inner)
        if opener.kind == "\\(":
            return "`" not in inner and not _is_prose(inner)
        if opener.kind == "\\[":
            return _MATHS_SIGN.search(inner) is not None
        if opener.kind != "$$":
            return True
        return "\n" in inner or not _is_prose(inner)

    def _may_open(self, opener: _Token) -> bool:
        before = self._text[opener.begin - 1 : opener.begin]
        return not _BEFORE.match(before) and not self._text[opener.end : opener.end + 1].isspace()

    def _may_close(self, closer: _Token) -> bool:
        if self._text[closer.begin - 1].isspace():
            return False
        if self._growing and closer.end == len(self._text):  # a digit may follow
            return False
        return not _AFTER.match(self._text, closer.end) or bool(_ORDINAL.match(self._text, closer.end))

    def _is_quoted(self, opener: _Token) -> bool:
        first = max(0, opener.begin - MAX_PREFIX_CHARS)
        line = self._text.rfind("\n", first, opener.begin) + 1
        return (line > 0 or first == 0) and _QUOTE.match(self._text, line) is not None


def _token(match: re.Match[str]) -> _Token:
    begin, end = match.span()
    if match["environment"] or match["pair"] or match["dollars"]:
        return _Token(match[0], begin, end)
    if match["line"]:
        return _Token("line" if match["blank"] is None else "blank", begin, end)
    return _Token(match.lastgroup or "", begin, end)


def _is_prose(inner: str) -> bool:
    """Return True for words between two dollars, such as “5 to 10” or “HOME and”, and for code."""
    if "`" in inner:
        return True
    bare = _COMMANDS.sub("", inner)
    return bool(_AMOUNT.match(bare) or _WORDS.search(bare))


def _limit(kind: str) -> int:
    return MAX_DISPLAY_CHARS if kind in _DISPLAY else MAX_INLINE_CHARS


def _cost(equation: Equation) -> int:
    return len(equation.source) + EQUATION_COST
