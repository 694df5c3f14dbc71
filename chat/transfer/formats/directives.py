"""Container directives in Markdown: `:::name{attributes}`, lines, `:::`.

LibreChat writes artifacts and reasoning into them, ChatGPT letters. https://talk.commonmark.org/t/444
"""

import re
from collections.abc import Callable, Container
from typing import NamedTuple

OPENING = re.compile(r" {0,3}(:{3,})\s*([A-Za-z][\w-]*)(?:\[([^\]\n]{0,500})\])?(?:\{([^\n]*)\})?\s*$")
CLOSING = re.compile(r" {0,3}(:{3,})\s*$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)$")
ATTRIBUTE = re.compile(r"([\w-]{1,60})\s{0,3}=\s{0,3}(?:[\"“”]((?:\\.|[^\"“”\\])*)[\"“”]|([^\s\"“”}]+))")


MAX_LOOKED_LINES = 300_000  # for the ends of directives, in one text


class Directive(NamedTuple):
    """`lines`: its content. A label is the attribute `title`."""

    name: str
    attributes: dict[str, str]
    lines: list[str]

    def without_fence(self) -> tuple[str, str]:
        """Return (language, content) of a content that is one fenced block; ("", content) of another."""
        lines = [*self.lines]
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
        fence = FENCE.match(lines[0]) if lines else None
        if fence is None:
            return "", "\n".join(lines)
        is_closed = len(lines) > 1 and lines[-1].strip() and set(lines[-1].strip()) == {fence[1][0]}
        return fence[2].strip().split(" ")[0], "\n".join(lines[1:-1] if is_closed else lines[1:])


def replaced(text: str, shown: Callable[[Directive], str], names: Container[str] = ()) -> str:
    """Return the text with each directive, outside code blocks, replaced by what `shown` returns.

    `names`: those of the directives, if a directive of another name is text.
    """
    if ":::" not in text:
        return text
    lines = text.split("\n")
    kept: list[str] = []
    place, fence, looked = 0, "", 0
    while place < len(lines):
        line = lines[place]
        opening = None if fence or looked > MAX_LOOKED_LINES else OPENING.match(line)
        if opening is None or (names and opening[2] not in names):
            fence = _fence_after(fence, line)
            kept.append(line)
            place += 1
            continue
        end, last = _end(lines, place + 1, len(opening[1]))
        looked += last - place
        attributes = {name: quoted.replace('\\"', '"') or plain for name, quoted, plain in _pairs(opening[4])}
        if opening[3]:
            attributes.setdefault("title", opening[3])
        indent = len(line) - len(line.lstrip(" "))
        content = [each[min(indent, len(each) - len(each.lstrip(" "))) :] for each in lines[place + 1 : end]]
        kept.append(shown(Directive(opening[2], attributes, content)))
        place = end + 1
    return "\n".join(kept)


def _pairs(attributes: str | None) -> list[tuple[str, str, str]]:
    return ATTRIBUTE.findall(attributes or "")


def open_fence(text: str) -> str:
    """Return the line that opens the code block in which a text ends; "" for none."""
    fence = opening = ""
    for line in text.split("\n"):
        if (found := _fence_after(fence, line)) != fence:
            fence, opening = found, line
    return opening if fence else ""


def _fence_after(fence: str, line: str) -> str:
    """Return the open fence after a line; "" for none."""
    found = FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    return "" if found[1].startswith(fence) and not found[2].strip() else fence


def _end(lines: list[str], place: int, colons: int) -> tuple[int, int]:
    """Return (place of the line that closes a directive, place of the last line that was looked at).

    If no line closes it, that is the number of lines. A code block may hold such lines. If it is not closed
    itself, the first of them counts.
    """
    fence, depth, first = "", 0, len(lines)
    for at in range(place, len(lines)):
        closing = CLOSING.match(lines[at])
        if closing and len(closing[1]) >= colons:
            first = min(first, at)
            if not fence and not depth:
                return at, at
            depth -= not fence
        elif not fence and OPENING.match(lines[at]):
            depth += 1
        fence = _fence_after(fence, lines[at])
    return first, len(lines)
