"""The end of a text that still grows: what would only flicker is held back, or shown as what it will be."""

import re

WAITING = 300  # characters; nothing is guessed about, or held back, for longer

# A line of marks alone may become a list, a heading, a rule or a fence; “-” even makes one of the line above.
_DOUBTFUL = re.compile(r"[ \t>]*(?:[-+*=_#|~`]+|\d{1,9}[.)]?|(?:`{3,}|~{3,})[^\n]*)[ \t]*\Z|[ \t>]+\Z")
_TABLE_HEAD = re.compile(r"(?:\A|\n[ \t]*\n)(\|[^\n]*(?:\n[ \t:|-]*)?)\Z")

_BEGUN = re.compile(
    r"`+(?P<code>[^`]+)\Z|\*\*(?=\S)(?P<strong>[^*]+)\Z|(?<![\w*])\*(?=\S)(?P<em>[^*]+)\Z"
    r"|!?\[(?P<link>[^\[\]]+)\]\([^()\s]*\Z"
)


def stable_prefix(text: str) -> str:
    """The text without its last line, the head of a table, or the marks at its very end, as long as they are
    in doubt."""
    if head := _TABLE_HEAD.search(text, max(0, len(text) - WAITING)):
        return text[: head.start(1)]
    line = text.rfind("\n") + 1
    if not _DOUBTFUL.match(text, line):
        text = text.rstrip("*_~`")
    return text[:line] if _DOUBTFUL.match(text, line) else text


def open_inline(text: str) -> tuple[str, str, str]:
    """The very last words in three parts: those before markup that has begun in them, its kind ("code",
    "strong", "em", "link", or "" for none), and those in it."""
    found = _BEGUN.search(text, max(0, len(text) - WAITING))
    if found is None:
        return text, "", ""
    kind = str(found.lastgroup)
    return text[: found.start()], kind, found[kind]
