"""The `details` elements in replies of Open WebUI: reasoning, calls of tools, code that was run."""

import html
import re
from collections.abc import Callable
from typing import Any

from . import foreign
from .drafts import Draft

OPENING = re.compile(r'(?:^[ \t]*|(?<=</details>))<details\s+type="([\w:-]{1,60})"([^<>]*)>', re.MULTILINE)
CLOSING = "</details>"
SUMMARY = re.compile(r"\s*<summary>([^<]{0,500})</summary>")
ATTRIBUTE = re.compile(r'([\w-]{1,60})="([^"]*)"')
FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
PRINTED = ("stdout", "stderr", "logs", "output", "result", "error")


def has_elements(content: str) -> bool:
    return _opening(content, 0) is not None


def read(content: str, draft: Draft) -> None:
    """Add a reply's text to the draft, with what its elements hold at their places."""
    done = 0  # end of the part that is processed; copying the rest for each element would take quadratic time
    while found := _opening(content, done):
        end = _end(content, found.end())
        if end < 0:
            break
        draft.add(content[done : found.start()].strip("\n"))
        attributes = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(found[2])}
        ELEMENTS.get(found[1], _other)(draft, attributes, content[found.end() : end])
        done = end + len(CLOSING)
    draft.add(content[done:].strip("\n") if done else content)


def _opening(content: str, start: int) -> re.Match[str] | None:
    """Return the next element, which begins a line that is not in a code block of the reply."""
    is_code, looked = False, start
    for found in OPENING.finditer(content, start):
        is_code ^= len(FENCE.findall(content, looked, found.start())) % 2 == 1
        if not is_code:
            return found
        looked = found.start()
    return None


def _end(content: str, start: int) -> int:
    """Return the place of the closing tag, which is not in a code block of the element; -1 for none."""
    fences, looked, end = 0, start, content.find(CLOSING, start)
    while end >= 0:
        fences += len(FENCE.findall(content, looked, end))
        if fences % 2 == 0:
            return end
        looked, end = end, content.find(CLOSING, end + 1)
    return content.find(CLOSING, start)


def _reasoning(draft: Draft, attributes: dict[str, str], body: str) -> None:
    lines = html.unescape(_content(body)).strip().splitlines()
    draft.think("\n".join(line.removeprefix(">").removeprefix(" ") for line in lines))


def _call(draft: Draft, attributes: dict[str, str], body: str) -> None:
    name = attributes.get("name", "")
    draft.call(name, foreign.parsed(foreign.parsed(attributes.get("arguments", ""))))
    result = attributes.get("result", "") or html.unescape(_content(body)).strip()
    draft.result(name, foreign.written(foreign.parsed(result)))
    files = foreign.parsed(attributes.get("files", ""))
    for file in files if isinstance(files, list) else ():
        url = foreign.text(file) or foreign.text(foreign.record(file).get("url"))
        draft.picture(foreign.text(foreign.record(file).get("name")), url)


def _interpreted(draft: Draft, attributes: dict[str, str], body: str) -> None:
    draft.add(_content(body).strip("\n"))
    draft.code("", printed(attributes.get("output", "")))


def _content(body: str) -> str:
    summary = SUMMARY.match(body)
    return body[summary.end() :] if summary else body


def _other(draft: Draft, attributes: dict[str, str], body: str) -> None:
    """Keep the content of an element of an unknown type, under its summary."""
    summary = SUMMARY.match(body)
    draft.add(f"**{html.unescape(summary[1])}**" if summary and summary[1].strip() else "")
    draft.add(html.unescape(_content(body)).strip("\n"))


def printed(output: Any) -> str:
    """Return what code has printed and returned: an object of it, its JSON, or a text."""
    found = foreign.parsed(foreign.parsed(output))
    if not isinstance(found, dict) or not found.keys() & {*PRINTED}:
        return foreign.text(found) if isinstance(found, str) else foreign.written(output)
    values = [found.get(name) for name in PRINTED]
    lines = [line for each in values for line in (each if isinstance(each, list) else [each]) if line]
    return "\n".join(foreign.written(line).strip("\n") for line in lines)


ELEMENTS: dict[str, Callable[[Draft, dict[str, str], str], None]] = {
    "reasoning": _reasoning,
    "tool_calls": _call,
    "code_interpreter": _interpreted,
}
