"""The HTML that is honoured in Markdown: tags that format words, and the part that unfolds (`details`).

Everything else is shown as text.
"""

import re
from collections.abc import Iterator
from html import escape, unescape

from .characters import JOINER

# An attribute of these tags is left out, except the title of an abbreviation.
_FORMATTING = "abbr|b|cite|code|del|dfn|em|i|ins|kbd|mark|q|s|samp|small|strong|sub|sup|u|var"
FORMATTING_TAGS = frozenset(_FORMATTING.split("|"))
_TAG = re.compile(
    rf"<(?:(?P<br>br)\s*/?|(?P<end>/?)(?P<name>{_FORMATTING})(?P<rest>\s[^<>]*)?)>", re.IGNORECASE
)
_TITLE = re.compile(r"""\stitle\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_FOLD = re.compile(r"[ \t]*<(/?)(details|summary)(?:\s[^<>]*)?>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>?")
# A line that begins with such a tag, and that another line follows.
_FOLD_LINE = re.compile(
    r"^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*</?(?:details|summary)\b[^\n]*(?=\n[ \t]*\S)", re.MULTILINE
)


def tag(html: str) -> tuple[str, str, str] | None:
    """Return (name, "/" if it is an end tag, the tag to write) of a tag that formats words, else None."""
    match = _TAG.fullmatch(html)
    if match is None:
        return None
    if match["br"]:
        return "br", "", "<br>"
    name, end = match["name"].lower(), match["end"]
    shown = ' dir="ltr"' if name == "code" else ""
    if name == "abbr" and (title := _TITLE.search(match["rest"] or "")):
        shown = f' title="{escape(unescape(title[1] or title[2] or ""))}"'
    return name, end, f"<{end}{name}{shown if not end else ''}>"


def parts(html: str, *, in_details: bool) -> Iterator[tuple[str, str]]:
    """Split a block of HTML into (the kind of a part, the part).

    The kinds are "details", "/details", "summary", "/summary", "words" for Markdown, and "other".
    `in_details`: the block stands in an element `details`, which it may end.
    """
    done = 0
    first = _FOLD.match(html)
    if in_details or (first and (first[1] + first[2]).lower() == "details"):
        for match in _FOLD.finditer(html):
            yield _words(html[done : match.start()])
            yield (match[1] + match[2]).lower(), match[0]
            done = match.end()
    yield _words(html[done:])


def _words(html: str) -> tuple[str, str]:
    known = all(tag(match[0]) for match in _ANY_TAG.finditer(html))
    return "words" if known else "other", html


def apart(source: str) -> str:
    """Insert a blank line after each line with a tag of `details`: what follows is Markdown, not HTML.

    The inserted line break follows a JOINER, by which it is known.
    """
    if "details" not in source and "summary" not in source:
        return source
    return _FOLD_LINE.sub(rf"\g<0>{JOINER}\n", source)
