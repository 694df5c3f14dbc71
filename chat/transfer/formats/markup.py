"""Markup in the Markdown of other chats for more than text: directives, `details`, Claude's elements.

Directives are `:::name{attributes}`, lines, `:::`: https://talk.commonmark.org/t/444. LibreChat writes
artifacts and reasoning into them, ChatGPT letters. Open WebUI writes reasoning, calls of tools and code that
was run into elements `details`; older exports of Claude have elements for artifacts and reasoning.
"""

import html
import re
from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple

from . import foreign
from .drafts import Draft

DIRECTIVE = re.compile(r" {0,3}(:{3,})\s*([A-Za-z][\w-]*)(?:\[([^\]\n]{0,500})\])?(?:\{([^\n]*)\})?\s*$")
DIRECTIVE_END = re.compile(r" {0,3}(:{3,})\s*$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)$")
DIRECTIVE_ATTRIBUTE = re.compile(
    r"([\w-]{1,60})\s{0,3}=\s{0,3}(?:[\"“”]((?:\\.|[^\"“”\\])*)[\"“”]|([^\s\"“”}]+))"
)
DETAILS = re.compile(r'(?:^[ \t]*|(?<=</details>))<details\s+type="([\w:-]{1,60})"([^<>]*)>', re.MULTILINE)
DETAILS_END = "</details>"
SUMMARY = re.compile(r"\s*<summary>([^<]{0,500})</summary>")
ATTRIBUTE = re.compile(r'([\w-]{1,60})="([^"]*)"')
FENCE_LINE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
PRINTED = ("stdout", "stderr", "logs", "output", "result", "error")
ANT_ELEMENT = re.compile(
    r'<antArtifact\s(?=[^<>]*\bidentifier=")(?P<about>[^<>]*)>(?P<artifact>.*?)(?:</antArtifact>|\Z)'
    r"|<antThinking>(?P<thought>(?:[^<]|<(?!/?antThinking>))*)</antThinking>",
    re.DOTALL,
)
ANT_BEGUN = re.compile(r"(?<!`)<ant(?:Artifact\s|Thinking>)")
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


def replaced_directives(text: str, shown: Callable[[Directive], str], names: Container[str] = ()) -> str:
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
        opening = None if fence or looked > MAX_LOOKED_LINES else DIRECTIVE.match(line)
        if opening is None or (names and opening[2] not in names):
            fence = _fence_after(fence, line)
            kept.append(line)
            place += 1
            continue
        end, last = _end_of_directive(lines, place + 1, len(opening[1]))
        looked += last - place
        pairs = DIRECTIVE_ATTRIBUTE.findall(opening[4] or "")
        attributes = {name: quoted.replace('\\"', '"') or plain for name, quoted, plain in pairs}
        if opening[3]:
            attributes.setdefault("title", opening[3])
        indent = len(line) - len(line.lstrip(" "))
        content = [each[min(indent, len(each) - len(each.lstrip(" "))) :] for each in lines[place + 1 : end]]
        kept.append(shown(Directive(opening[2], attributes, content)))
        place = end + 1
    return "\n".join(kept)


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


def _end_of_directive(lines: list[str], place: int, colons: int) -> tuple[int, int]:
    """Return (place of the line that closes a directive, place of the last line that was looked at).

    If no line closes it, that is the number of lines. A code block may hold such lines. If it is not closed
    itself, the first of them counts.
    """
    fence, depth, first = "", 0, len(lines)
    for at in range(place, len(lines)):
        closing = DIRECTIVE_END.match(lines[at])
        if closing and len(closing[1]) >= colons:
            first = min(first, at)
            if not fence and not depth:
                return at, at
            depth -= not fence
        elif not fence and DIRECTIVE.match(lines[at]):
            depth += 1
        fence = _fence_after(fence, lines[at])
    return first, len(lines)


def has_details(content: str) -> bool:
    return _next_details(content, 0) is not None


def read_details(content: str, draft: Draft) -> None:
    """Add a reply's text to the draft, with what its elements hold at their places."""
    done = 0  # end of the part that is processed; copying the rest for each element would take quadratic time
    while found := _next_details(content, done):
        end = _end_of_details(content, found.end())
        if end < 0:
            break
        draft.add(content[done : found.start()].strip("\n"))
        attributes = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(found[2])}
        KINDS_OF_DETAILS.get(found[1], _other)(draft, attributes, content[found.end() : end])
        done = end + len(DETAILS_END)
    draft.add(content[done:].strip("\n") if done else content)


def _next_details(content: str, start: int) -> re.Match[str] | None:
    """Return the next element, which begins a line that is not in a code block of the reply."""
    is_code, looked = False, start
    for found in DETAILS.finditer(content, start):
        is_code ^= len(FENCE_LINE.findall(content, looked, found.start())) % 2 == 1
        if not is_code:
            return found
        looked = found.start()
    return None


def _end_of_details(content: str, start: int) -> int:
    """Return the place of the closing tag, which is not in a code block of the element; -1 for none."""
    fences, looked, end = 0, start, content.find(DETAILS_END, start)
    while end >= 0:
        fences += len(FENCE_LINE.findall(content, looked, end))
        if fences % 2 == 0:
            return end
        looked, end = end, content.find(DETAILS_END, end + 1)
    return content.find(DETAILS_END, start)


def _reasoning(draft: Draft, attributes: dict[str, str], body: str) -> None:
    lines = html.unescape(_without_summary(body)).strip().splitlines()
    draft.think("\n".join(line.removeprefix(">").removeprefix(" ") for line in lines))


def _call(draft: Draft, attributes: dict[str, str], body: str) -> None:
    name = attributes.get("name", "")
    draft.call(name, foreign.parsed(foreign.parsed(attributes.get("arguments", ""))))
    result = attributes.get("result", "") or html.unescape(_without_summary(body)).strip()
    draft.result(name, foreign.written(foreign.parsed(result)))
    for file in foreign.listed(foreign.parsed(attributes.get("files", ""))):
        url = foreign.text(file) or foreign.text(foreign.fields(file).get("url"))
        draft.picture(foreign.text(foreign.fields(file).get("name")), url)


def _interpreted(draft: Draft, attributes: dict[str, str], body: str) -> None:
    draft.add(_without_summary(body).strip("\n"))
    draft.code("", printed(attributes.get("output", "")))


def _without_summary(body: str) -> str:
    summary = SUMMARY.match(body)
    return body[summary.end() :] if summary else body


def _other(draft: Draft, attributes: dict[str, str], body: str) -> None:
    """Keep the content of an element of an unknown type, under its summary."""
    summary = SUMMARY.match(body)
    draft.add(f"**{html.unescape(summary[1])}**" if summary and summary[1].strip() else "")
    draft.add(html.unescape(_without_summary(body)).strip("\n"))


def printed(output: Any) -> str:
    """Return what code has printed and returned: an object of it, its JSON, or a text."""
    found = foreign.parsed(foreign.parsed(output))
    if not isinstance(found, dict) or not found.keys() & {*PRINTED}:
        return foreign.text(found) if isinstance(found, str) else foreign.written(output)
    values = [found.get(name) for name in PRINTED]
    lines = [line for each in values for line in (each if isinstance(each, list) else [each]) if line]
    return "\n".join(foreign.written(line).strip("\n") for line in lines)


KINDS_OF_DETAILS: dict[str, Callable[[Draft, dict[str, str], str], None]] = {
    "reasoning": _reasoning,
    "tool_calls": _call,
    "code_interpreter": _interpreted,
}


def elements(text: str) -> Iterator[re.Match[str]]:
    """Yield the elements in a text that do not stand in code."""
    at = 0
    while begun := ANT_BEGUN.search(text, at):
        if fence := open_fence(text[at : begun.start()]).strip():
            marks = fence[: len(fence) - len(fence.lstrip(fence[0]))]
            closing = re.compile(rf"^ {{0,3}}{marks}[^\n]*$", re.MULTILINE).search(text, begun.start())
            at = closing.end() if closing else len(text)
        elif element := ANT_ELEMENT.match(text, begun.start()):
            yield element
            at = element.end()
        else:
            at = begun.end()
