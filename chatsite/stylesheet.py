"""Minification of style sheets."""

import re

_PIECE = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<comment>/\*(?:[^*]|\*(?!/))*\*/(?=[ \t]*\n))
    |(?P<line_end>\s*\n\s*)""",
    re.VERBOSE | re.DOTALL,
)


def shortened(source: str) -> str:
    """Return the same rules without comments that end a line, blank lines and indentation."""
    without_comments = _PIECE.sub(lambda piece: "" if piece["comment"] else piece[0], source)
    return _PIECE.sub(lambda piece: "\n" if piece["line_end"] else piece[0], without_comments).lstrip()
