r"""Equations in Markdown: `\(…\)` and `$…$` in a line; `\[…\]`, `$$…$$` and environments of LaTeX apart.

The Markdown parser must not see an equation, whose underscores, pipes, backslashes and line breaks mean
something else to it. Therefore each equation is masked by a word of the same length in code points, without a
line break, which the writer replaces again. Only an equation that stands apart, on lines of its own, goes
over a blank line. While it grows, everything that may be one is masked, so that a text has the same equations
whole and in parts.

A fence “math” and dollars with backticks ($`…`$) are equations, too, as on GitHub and GitLab.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from .characters import FIRST_STAND_IN, RESERVED
from .equation_scan import equations_in
from .fences import Fence
from .mathml import Equation

# Maximum of all equations of a message, in characters: each costs its length and more, see `Equation.cost`.
MATHS_BUDGET_CHARS = 100_000

# A mask is “$”, the number of the equation as a reserved character, fillers, and “$”.
_FIRST = ord(RESERVED[0]) + 1
_FILLER = RESERVED[0]
_MASK = re.compile(f"\\$([{chr(_FIRST)}-{chr(ord(FIRST_STAND_IN) - 1)}]){_FILLER}*\\$")

_ESCAPED_DELIMITER = re.compile(r"\\([()\[\]])")


class Masked(NamedTuple):
    text: str
    equations: list[Equation]
    ends: list[int]  # the offsets at which the equations end, in code points
    spent: list[int]  # what the equations up to each of these cost

    def left(self, left: int, offset: int) -> int:
        """Return what remains of `left` characters behind the equations that end up to this offset."""
        ended = bisect_right(self.ends, offset)
        return left - self.spent[ended - 1] if ended else left


def mask(
    text: str, left: int = MATHS_BUDGET_CHARS, fences: Sequence[Fence] = (), *, growing: bool = False
) -> Masked:
    """Mask the equations in a text, up to `left` characters of them.

    `growing`: more text follows; an equation that is open at the end is masked, too, and shows its source.
    """
    if not (fences or any(each in text for each in ("$", "\\(", "\\[", "\\begin{"))):
        return Masked(text, [], [], [])
    out: list[str] = []
    done = 0
    found = equations_in(text, fences, left, growing=growing)
    for count, (begin, end, _) in enumerate(found):
        out += [text[done:begin], "$", chr(_FIRST + count), _FILLER * (end - begin - 3), "$"]
        done = end
    equations = [each.equation for each in found]
    spent = list(accumulate(equation.cost for equation in equations))
    return Masked("".join([*out, text[done:]]), equations, [each.end for each in found], spent)


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
