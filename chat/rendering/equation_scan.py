"""The search for the equations in a text: delimiters, and what between them is meant as an equation."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from .fences import Fence
from .mathml import EQUATION_COST, Equation, unquoted
from .prices import are_prices, is_prose

MAX_INLINE_CHARS = 1_000
MAX_DISPLAY_CHARS = 4_000
MAX_PREFIX_CHARS = 1_000  # what stands before an equation in its line is not seen farther from it

# The environments that are equations without any delimiters around them, as in LaTeX.
ENVIRONMENTS = "align|alignat|eqnarray|equation|gather|multline"

_PREFIX = r"(?:[ \t>]|(?:[-+*]|\d{1,9}[.)])[ \t])*"  # marks of quotations and lists
_BEGIN = re.compile(_PREFIX)

# Tokens that may begin or end an equation, pairs of a backslash and a character, code, and ends of lines.
# No equation goes beyond a line that may open or close a fence.
_TOKEN = re.compile(
    rf"(?P<fence>^{_PREFIX}(?:`{{3,}}|~{{3,}})[^\n]*)"
    r"|(?P<ticked>\$`(?<![\w$`]\$`)[^`\n]+`\$(?![\w$`]))"
    rf"|(?P<environment>\\(?:begin|end)\{{(?:{ENVIRONMENTS})\*?\}})"
    r"|(?P<pair>\\[^\n])|(?P<dollars>\$+)|(?P<ticks>`+)"
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
# What looks like maths may stand beside letters, as in “CO$_2$” and “$20^\circ$C”. But shell variables hold
# underscores, and strings “\n”.
_BEFORE_MATHS = re.compile(r"[$^\\]")
_AFTER_MATHS = re.compile(r"[0-9${\\]")
_BEGINS_MATHS = re.compile(r"[\^_][\w{\\+*-]|\\[A-Za-z%]")
_HOLDS_MATHS = re.compile(r"\A[\^_\\]|\^|_\{|\\[A-Za-z]{2}")
_ORDINAL = re.compile(r"(?:th|st|nd|rd|s)\b")
_MEANT = re.compile(r"\w|\\%")
_MATHS_SIGN = re.compile(r"[\\^_=+<>{}/*|&]|\d\s*-|-\s*\d")
_UNFINISHED = re.compile(r"[\\^_{]")
_PREFIX = r"[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*"
_QUOTE = re.compile(f"{_PREFIX}>")
_BLANK = re.compile(r"\n[ \t>]*\n")


class Found(NamedTuple):
    begin: int
    end: int
    equation: Equation


def equations_in(text: str, fences: Sequence[Fence], left: int, *, growing: bool) -> list[Found]:
    """Return the equations in a text from left to right, up to `left` characters of them.

    `growing`: more text follows; what may be an equation that is open at the end counts as one, too.
    """
    return _Scan(text, fences, growing=growing).found(left)


class _Token(NamedTuple):
    kind: str
    begin: int
    end: int


class _Scan:
    """The search for the equations of one text, in linear time."""

    def __init__(self, text: str, fences: Sequence[Fence], *, growing: bool) -> None:
        self._text = text
        self._growing = growing
        self._fences = [fence for fence in fences if fence.language == "math"]
        self._tokens = self._with_fences([_token(match) for match in _TOKEN.finditer(text)])
        self._closers = self._matched()
        self._last_fence = self._last("fence", "math")
        self._last_boundary = max(self._last_fence, self._last("blank"))
        self._last_stop = self._last("line", "blank", "fence", "math", "ticks", "$", "$$", "\\(", "\\[")

    def _with_fences(self, tokens: list["_Token"]) -> list["_Token"]:
        """Put one token in the place of those in a fence of equations."""
        for fence in reversed(self._fences):
            if fence.is_closed or self._growing:
                first, last = (
                    bisect_left(tokens, at, key=attrgetter("begin")) for at in (fence.begin, fence.end)
                )
                first -= (
                    first > 0 and tokens[first - 1].kind == "fence" and tokens[first - 1].end > fence.begin
                )
                tokens[first:last] = [_Token("math", fence.begin, fence.end)]
        return tokens

    def found(self, left: int) -> list[Found]:
        found: list[Found] = []
        at = 0
        while at < len(self._tokens):
            next_, end, equation = self._read(at)
            if equation is None or equation.cost > left:
                at = next_ if equation is None else at + 1
                continue
            found.append(Found(self._tokens[at].begin, end, equation))
            left -= equation.cost
            at = next_
        return found

    def _read(self, at: int) -> tuple[int, int, Equation | None]:
        """Return (index of the token to go on with, end of the equation, the equation at this token)."""
        token, closer = self._tokens[at], self._closers[at]
        if token.kind == "ticks":
            return (at if closer is None else closer) + 1, 0, None
        if token.kind == "math":
            return at + 1, token.end, self._fenced(token)
        if token.kind == "ticked":
            source = self._text[token.begin : token.end]
            return at + 1, token.end, Equation(source, source[2:-2].strip(), False, True, False)
        if token.kind not in _ENDS:
            return at + 1, 0, None
        if closer is None:
            return self._read_open(at)
        equation = self._equation(token, self._tokens[closer])
        return (closer + 1, self._tokens[closer].end, equation) if equation else (at + 1, 0, None)

    def _fenced(self, token: _Token) -> Equation | None:
        """Return the equation in a fence “math”; code that is too long for one stays code."""
        fence = next(fence for fence in self._fences if fence.begin == token.begin)
        source, inner = self._text[fence.begin : fence.end], self._text[fence.code : fence.last]
        if len(source) > MAX_DISPLAY_CHARS or not (_MEANT.search(inner) or not fence.is_closed):
            return None
        quoted = self._is_quoted(token)
        tex = unquoted("\n" + inner) if quoted else inner
        return Equation(source, tex.strip(), True, fence.is_closed, quoted)

    def _read_open(self, at: int) -> tuple[int, int, Equation | None]:
        """Read an equation that is open at the end of a growing text."""
        token, end = self._tokens[at], len(self._text)
        if not (self._growing and self._reaches_end(at) and 3 <= end - token.begin <= _limit(token.kind)):
            return at + 1, 0, None
        source = self._text[token.begin :]
        if token.kind == "$":
            inner = source[1:]
            if not self._may_open(token) or is_prose(inner) or not _UNFINISHED.search(inner):
                return at + 1, 0, None
        return len(self._tokens), end, Equation(source, "", False, False, self._is_quoted(token))

    def _reaches_end(self, at: int) -> bool:
        """Return True if nothing up to the end of the text ends this equation."""
        token = self._tokens[at]
        if token.kind not in _DISPLAY:
            return at >= self._last_stop
        if at >= self._last_boundary:
            return True
        inner = self._text[token.end :]
        return at >= self._last_fence and self._begins_line(token) and not is_prose(inner, growing=True)

    def _last(self, *kinds: str) -> int:
        """Return the index of the last token of these kinds, or -1."""
        places = range(len(self._tokens) - 1, -1, -1)
        return next((at for at in places if self._tokens[at].kind in kinds), -1)

    def _matched(self) -> list[int | None]:
        """Return for each token the index of the token that would end what it begins."""
        closers: list[int | None] = [None] * len(self._tokens)
        after: dict[str, int] = {}  # from the kind, or the number of backticks, to the next one in the line
        apart: dict[str, int] = {}  # the next one before a blank line or a fence
        far: dict[str, int] = {}  # the next one before a fence
        for at in range(len(self._tokens) - 1, -1, -1):
            token = self._tokens[at]
            if token.kind in ("fence", "math"):
                far.clear()
            if token.kind in ("blank", "fence", "math"):
                apart.clear()
            if token.kind in ("line", "blank", "fence", "math"):
                after.clear()
            elif token.kind == "ticks":
                name = f"`{token.end - token.begin}"
                closers[at] = after.get(name)
                after[name] = at
            else:
                near = apart if token.kind in _DISPLAY else after
                closers[at] = self._closer(token.kind, near)
                if closers[at] is None and token.kind in _DISPLAY and self._begins_line(token):
                    closers[at] = self._closer(token.kind, far)
                after[token.kind] = apart[token.kind] = far[token.kind] = at
                if token.kind[0] == "$":
                    after["$"] = at
        return closers

    def _closer(self, kind: str, near: dict[str, int]) -> int | None:
        if kind not in _ENDS:
            return None
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
        tex = (unquoted(tex) if quoted else tex).strip()
        if tex.count("\\|") % 2 and self._text[self._line(opener) :].lstrip(" \t>").startswith("|"):
            tex = tex.replace("\\|", "|")  # escaped for the cell of a table
        return Equation(source, tex, opener.kind in _DISPLAY, True, quoted)

    def _is_maths(self, opener: _Token, closer: _Token, inner: str) -> bool:
        if _BLANK.search(inner) and is_prose(inner):
            return False
        if opener.kind == "$":
            may = self._may_open(opener) and self._may_close(closer, inner)
            return may and not is_prose(inner) and not are_prices(inner, self._text, closer.end)
        if opener.kind == "\\(":
            return "`" not in inner and not is_prose(inner)
        if opener.kind == "\\[":
            return _MATHS_SIGN.search(inner) is not None
        if opener.kind != "$$":
            return True
        return "\n" in inner or not is_prose(inner)

    def _may_open(self, opener: _Token) -> bool:
        before = self._text[opener.begin - 1 : opener.begin]
        refused = _BEFORE_MATHS if _BEGINS_MATHS.match(self._text, opener.end) else _BEFORE
        return not refused.match(before) and not self._text[opener.end : opener.end + 1].isspace()

    def _may_close(self, closer: _Token, inner: str) -> bool:
        if self._text[closer.begin - 1].isspace():
            return False
        if self._growing and closer.end == len(self._text):  # a digit may follow
            return False
        refused = _AFTER_MATHS if _HOLDS_MATHS.search(inner) else _AFTER
        return not refused.match(self._text, closer.end) or bool(_ORDINAL.match(self._text, closer.end))

    def _is_quoted(self, opener: _Token) -> bool:
        return _QUOTE.match(self._text, self._line(opener)) is not None

    def _begins_line(self, opener: _Token) -> bool:
        """Return True if only the marks of quotations and lists stand before this in its line."""
        return _BEGIN.fullmatch(self._text, self._line(opener), opener.begin) is not None

    def _line(self, token: _Token) -> int:
        """Return the place where the token's line begins, or MAX_PREFIX_CHARS before it."""
        first = max(0, token.begin - MAX_PREFIX_CHARS)
        return max(first, self._text.rfind("\n", first, token.begin) + 1)


def _token(match: re.Match[str]) -> _Token:
    begin, end = match.span()
    if match["environment"] or match["pair"] or match["dollars"]:
        return _Token(match[0], begin, end)
    if match["line"]:
        return _Token("line" if match["blank"] is None else "blank", begin, end)
    return _Token(match.lastgroup or "", begin, end)


def _limit(kind: str) -> int:
    return MAX_DISPLAY_CHARS if kind in _DISPLAY else MAX_INLINE_CHARS


def end_of_open_equation(text: str) -> str:
    """Return what would end the equation apart that is open at the end of a text; "" if none is."""
    found = equations_in(text, (), len(text) + EQUATION_COST, growing=True)
    if not found or found[-1].equation.closed:
        return ""
    begin, _, (source, *_) = found[-1]
    if text[:begin].rpartition("\n")[2].strip(" \t>"):
        return ""
    return next((end for start, end in _DISPLAY.items() if source.startswith(start)), "")
