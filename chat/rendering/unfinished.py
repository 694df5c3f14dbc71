"""The end of a growing text: incomplete markup is held back or shown as complete, to avoid flicker."""

import re

WAITING = 300  # characters; markup that begins farther from the end is neither held back nor completed

# A line of marks alone may become a list, a heading, a rule or a fence; “-” can even turn the line above into
# a heading.
_DOUBTFUL = re.compile(r"[ \t>]*(?:[-+*=_#|~`]+|\d{1,9}[.)]?|(?:`{3,}|~{3,})[^\n]*)[ \t]*\Z|[ \t>]+\Z")
_TABLE_HEAD = re.compile(r"(?:\A|\n[ \t]*\n)(\|[^\n]*(?:\n[ \t:|-]*)?)\Z")

_BEGUN = re.compile(
    r"`+(?P<code>[^`]+)\Z|\*\*(?=\S)(?P<strong>[^*]+)\Z|(?<![\w*])\*(?=\S)(?P<em>[^*]+)\Z"
    r"|!?\[(?P<link>[^\[\]]+)\]\([^()\s]*\Z"
)


def stable_prefix(text: str) -> str:
    """Return the text without its ambiguous end: its last line, a table's head, or marks at the very end."""
    if head := _TABLE_HEAD.search(text, max(0, len(text) - WAITING)):
        return text[: head.start(1)]
    line = text.rfind("\n") + 1
    if not _DOUBTFUL.match(text, line):
        text = text.rstrip("*_~`")
    return text[:line] if _DOUBTFUL.match(text, line) else text


def open_inline(text: str) -> tuple[str, str, str]:
    """Return (text before the markup that is open at the end, kind of the markup, text in it).

    The kind is "code", "strong", "em", "link", or "" if there is none.
    """
    found = _BEGUN.search(text, max(0, len(text) - WAITING))
    if found is None:
        return text, "", ""
    kind = str(found.lastgroup)
    return text[: found.start()], kind, found[kind]
