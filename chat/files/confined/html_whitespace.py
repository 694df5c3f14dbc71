"""White space of HTML: collapsed, except where an element keeps it."""

import re

# Until all text of a page is together, these stand for white space that is kept, and for the edge of a block,
# where a line ends, but no blank line is added. No text holds them.
SPACE, LINE, EDGE = "\x1f", "\x1e", "\x1d"
KEPT = str.maketrans({" ": SPACE, "\n": LINE, SPACE: None, LINE: None, EDGE: None})
RESTORED = str.maketrans({SPACE: " ", LINE: "\n", EDGE: "\n"})
MARKS = str.maketrans("", "", SPACE + LINE + EDGE)
WHITE = re.compile(r"[ \t\r\n\f]+")
AROUND_LINES = re.compile(f" *[\n{EDGE}][ \n{EDGE}]*")
SPACES = re.compile(r" {2,}")


def collapsed(text: str) -> str:
    """Return a text with one space for each run of white space."""
    return WHITE.sub(" ", text.translate(MARKS))


def kept(text: str) -> str:
    return text.translate(KEPT)


def tidy(text: str) -> str:
    """Return blocks without the spaces around them, at most one blank line apart."""
    text = AROUND_LINES.sub(lambda run: "\n\n" if run[0].count("\n") > 1 else "\n", text)
    return SPACES.sub(" ", text).strip(" \n" + EDGE)


def joined(text: str) -> str:
    """Return all in one line."""
    return collapsed(text.translate(RESTORED)).strip()


def restored(text: str) -> str:
    """Return the blocks with the white space that was kept."""
    return tidy(text).translate(RESTORED)


def prefixed(text: str, first: str, rest: str) -> str:
    """Return tidy blocks with `first` before the first line, and `rest` before each of the others."""
    rest = kept(rest)
    return first + re.sub(f"[\n{LINE}]", lambda end: end[0] + rest, text)
