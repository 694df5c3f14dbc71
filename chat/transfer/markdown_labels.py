"""The labels of links and footnotes, `[1]: …` and `[^1]: …`, which hold for a whole Markdown file.

In one file, the first definition of a label counts: another turn's `[1]` would lead to the wrong source.
"""

import re
from typing import Any

from pyromark import Markdown

from chat.rendering.definitions import MARKDOWN_OPTIONS, PARSER

_BRACKETED = re.compile(rb"\[(?:[^\[\]\\]|\\.)*\]", re.DOTALL)
_LAST = re.compile(_BRACKETED.pattern + rb"\Z", re.DOTALL)
_NOTE = re.compile(r"\[\^([^\]\s]+)\]")
_REFERENCES = ("Reference", "Collapsed", "Shortcut")
_FOREIGN = ("ReferenceUnknown", "CollapsedUnknown", "ShortcutUnknown")  # not defined in the turn itself
_Edit = tuple[int, int, bytes]  # (begin, end, replacement)


class Labels:
    """The labels of the turns so far."""

    def __init__(self) -> None:
        self._defined: set[str] = set()
        self._bare: set[str] = set()  # written in brackets by a turn that does not define them
        self._turn = 0

    def apart(self, text: str) -> str:
        """Return a turn's text with other labels in place of those that an earlier turn has written.

        What an earlier turn has defined and this one has not is escaped: it leads nowhere here.
        """
        if "[" not in text:
            return text
        self._turn += "]:" in text
        links = PARSER.reference_definitions(text)
        events, bare = self._events(text, {_folded(each) for each in links})
        starts = (event["Start"] for event, *_ in events if "Start" in event)
        notes = [kind["FootnoteDefinition"] for kind in starts if "FootnoteDefinition" in kind]
        own = {*(_folded(each) for each in links), *(f"^{_folded(each)}" for each in notes)}
        again = own & (self._defined | self._bare)
        self._bare |= bare
        self._defined |= own
        new = {each: self._free(each) for each in again}
        self._defined.update(new.values())
        source = text.encode()
        edits: list[_Edit] = []
        for label, found in links.items():
            if _folded(label) in new:
                edits.append(_label(source, found["span"]["start"], new[_folded(label)]))
        for event, begin, end in events:
            edits += _edits_of(event, begin, end, source, new, own)
        out, done = [], 0
        for begin, end, replacement in sorted(edits):
            out += [source[done:begin], replacement]
            done = end
        return b"".join([*out, source[done:]]).decode()

    def _events(self, text: str, own: set[str]) -> tuple[list[tuple[Any, int, int]], set[str]]:
        """Return the events as in a file with the earlier turns, with their places, and the bare labels."""
        bare: set[str] = set()

        def resolve(link: Any) -> tuple[str, str] | None:
            label = _folded(link["reference"])
            bare.add(label)
            return ("#", "") if label in self._defined else None

        notes = {_folded(each) for each in _NOTE.findall(text)}
        bare |= {f"^{each}" for each in notes}
        known = "".join(f"[^{each}]: .\n\n" for each in notes if f"^{each}" in self._defined) + "***\n\n"
        start = len(known.encode())
        parser = Markdown(options=MARKDOWN_OPTIONS, broken_link_callback=resolve)
        found = parser.events_with_range(known + text)
        events = [(event, span["start"] - start, span["end"] - start) for event, span in found]
        return [each for each in events if each[1] >= 0], bare - own

    def _free(self, label: str) -> str:
        number = self._turn
        while f"{label}-{number}" in self._defined | self._bare:
            number += 1
        return f"{label}-{number}"


def _edits_of(
    event: Any, begin: int, end: int, source: bytes, new: dict[str, str], own: set[str]
) -> list[_Edit]:
    """Return the changes of a definition of a footnote, or of what refers to a footnote or a link."""
    if not isinstance(event, dict):
        return []
    start = event.get("Start")
    start = start if isinstance(start, dict) else {}
    note = event.get("FootnoteReference") or start.get("FootnoteDefinition") or ""
    if label := new.get(f"^{_folded(note)}"):
        return [_label(source, begin, label)]
    if note and f"^{_folded(note)}" not in own:
        return [(begin, begin, b"\\")]
    link = start.get("Link") or start.get("Image") or {}
    last = _LAST.search(source, begin, end)
    if link.get("link_type") in _FOREIGN and last:
        return [(at, at, b"\\") for at in {source.index(b"[", begin), last.start()}]
    label = new.get(_folded(link.get("id", "")))
    if label is None or link["link_type"] not in _REFERENCES:
        return []
    if link["link_type"] == "Shortcut":
        return [(end, end, f"[{label}]".encode())]
    if link["link_type"] == "Collapsed":  # with its brackets, or without them
        place = end if source.startswith(b"[]", end) else end - 2
        return [(place, place + 2, f"[{label}]".encode())]
    return [(last.start(), end, f"[{label}]".encode())] if last else []


def _label(source: bytes, begin: int, label: str) -> _Edit:
    found = _BRACKETED.search(source, begin)
    assert found
    return found.start(), found.end(), f"[{label}]".encode()


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()
