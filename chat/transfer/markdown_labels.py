"""The labels of links and footnotes, `[1]: …` and `[^1]: …`, which hold for a whole Markdown file.

In one file, the first definition of a label counts: another turn's `[1]` would lead to the wrong source.
"""

import re
from typing import Any

from chat.rendering.definitions import PARSER

_BRACKETED = re.compile(rb"\[(?:[^\[\]\\]|\\.)*\]", re.DOTALL)
_LAST = re.compile(_BRACKETED.pattern + rb"\Z", re.DOTALL)
_REFERENCES = ("Reference", "Collapsed", "Shortcut")
_Edit = tuple[int, int, bytes]  # (begin, end, replacement)


class Labels:
    """The labels of the turns so far."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._turn = 0

    def apart(self, text: str) -> str:
        """Return a turn's text with other labels in place of those that an earlier turn has defined."""
        if "]:" not in text:
            return text
        self._turn += 1
        source = text.encode()
        events: list[tuple[Any, Any]] = list(PARSER.events_with_range(text))
        links = PARSER.reference_definitions(text)
        starts = [(event["Start"], span) for event, span in events if "Start" in event]
        notes = [kind["FootnoteDefinition"] for kind, _ in starts if "FootnoteDefinition" in kind]
        defined = {*(_folded(each) for each in links), *(f"^{_folded(each)}" for each in notes)}
        again = defined & self._known
        self._known |= defined
        new = {each: self._free(each) for each in again}
        self._known.update(new.values())
        edits: list[_Edit] = []
        for label, found in links.items():
            if _folded(label) in new:
                edits.append(_label(source, found["span"]["start"], new[_folded(label)]))
        for event, span in events:
            edits += _edits_of(event, span["start"], span["end"], source, new)
        out, done = [], 0
        for begin, end, replacement in sorted(edits):
            out += [source[done:begin], replacement]
            done = end
        return b"".join([*out, source[done:]]).decode()

    def _free(self, label: str) -> str:
        number = self._turn
        while f"{label}-{number}" in self._known:
            number += 1
        return f"{label}-{number}"


def _edits_of(event: Any, begin: int, end: int, source: bytes, new: dict[str, str]) -> list[_Edit]:
    """Return the changes of a definition of a footnote, or of what refers to a footnote or a link."""
    if not isinstance(event, dict):
        return []
    start = event.get("Start")
    start = start if isinstance(start, dict) else {}
    note = event.get("FootnoteReference") or start.get("FootnoteDefinition") or ""
    if label := new.get(f"^{_folded(note)}"):
        return [_label(source, begin, label)]
    link = start.get("Link") or start.get("Image") or {}
    label = new.get(_folded(link.get("id", "")))
    if label is None or link["link_type"] not in _REFERENCES:
        return []
    if link["link_type"] == "Shortcut":
        return [(end, end, f"[{label}]".encode())]
    if link["link_type"] == "Collapsed":  # with its brackets, or without them
        place = end if source.startswith(b"[]", end) else end - 2
        return [(place, place + 2, f"[{label}]".encode())]
    last = _LAST.search(source, begin, end)
    return [(last.start(), end, f"[{label}]".encode())] if last else []


def _label(source: bytes, begin: int, label: str) -> _Edit:
    found = _BRACKETED.search(source, begin)
    assert found
    return found.start(), found.end(), f"[{label}]".encode()


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()
