"""Export of a conversation's active branch as Markdown."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from typing import Any

from django.utils.translation import gettext as _
from pyromark import Markdown

from chat.formats import short_date
from chat.models import Conversation, Message
from chat.models.citation import CitedSource
from chat.rendering.definitions import MARKDOWN_OPTIONS, PARSER

from .json_export import is_picture, read, shown_batches, sources_of
from .markdown_turns import closed
from .records import Object

SPECIAL = re.compile(r"([\\`*_\[\]<>&#|~])")  # characters that Markdown gives a meaning
LISTED = re.compile(r"^(\d*)([-+=.)])(?=[-=]*(?:\s|$))")
_BRACKETED = re.compile(rb"\[(?:[^\[\]\\]|\\.)*\]", re.DOTALL)
_LAST = re.compile(_BRACKETED.pattern + rb"\Z", re.DOTALL)
_NOTE = re.compile(r"\[\^([^\]\s]+)\]")
_REFERENCES = ("Reference", "Collapsed", "Shortcut")
_FOREIGN = ("ReferenceUnknown", "CollapsedUnknown", "ShortcutUnknown")  # not defined in the turn itself
_Edit = tuple[int, int, bytes]  # (begin, end, replacement)
NameOf = Callable[[str], str]  # returns the display name of a model, given its id


def markdown_pieces(
    conversation: Conversation, zone: tzinfo, name_of: NameOf, root: str | None = None
) -> Iterator[str]:
    """Yield the file in pieces, reading only what the next piece needs. Times are in `zone`.

    `root`: the relative path to the archive's root, for links to pictures and documents; without it, they are
    only named.
    """
    labels = Labels()
    yield f"# {_escaped(conversation.title)}\n"
    if version := conversation.assistant_version:
        yield f"\n{_('Assistant:')} {_escaped(version.name)}\n"
    if conversation.system:
        yield f"\n## {_('Instructions')}\n\n{closed(labels.apart(conversation.system))}\n"
    for batch in shown_batches(conversation):
        for message in read(batch):
            yield _message(message, zone, name_of, root, labels)


def _message(message: Object, zone: tzinfo, name_of: NameOf, root: str | None, labels: "Labels") -> str:
    heading = f"\n## {author(message, name_of)} · {written_time(message['created'], zone)}\n"
    thoughts = ""
    if message["reasoning"]:
        reasoning = closed(labels.apart(message["reasoning"]))
        thoughts = f"\n<details><summary>{_('Thinking')}</summary>\n\n{reasoning}\n\n</details>\n"
    attachments = "".join(f"\n{_attachment(each, root)}\n" for each in message.get("attachments", ()))
    text = f"\n{closed(labels.apart(message['text']))}\n" if message["text"] or not attachments else ""
    return f"{heading}{thoughts}{attachments}{text}{_sources(message)}"


def _sources(message: Object) -> str:
    """Return the list of sources, each with its passages as quotations; "" without any."""
    sources = sources_of(message)
    if not sources:
        return ""
    listed = "".join(f"\n{n}. {_source(each)}\n" for n, each in enumerate(sources, 1))
    return f"\n### {_('Sources')}\n{listed}"


def _source(source: CitedSource) -> str:
    url = "" if source.is_private else source.url.replace("<", "%3C").replace(">", "%3E")
    name = f"[{_escaped(source.title)}](<{url}>)" if url else _escaped(source.title)
    name = f"{name} ({short_date(source.date)})" if source.date else name
    quotes = [_quote(each.page, each.text) for each in source.passages]
    return "\n".join([name, *quotes])


def _quote(page: int, text: str) -> str:
    """Return a passage as an indented quotation. Its Markdown is escaped: it is text of others."""
    above = [f"   {_('Page %(n)s') % {'n': page}}"] if page else []
    lines = [f"   > {_line(line)}".rstrip() for line in text.splitlines()]
    return "\n".join(["", *above, *([""] if above else []), *lines])


def _line(line: str) -> str:
    """Return a line as text: with spaces that indent no code, and no mark of a list."""
    words = line.lstrip()
    return "\u00a0" * (len(line) - len(words)) + LISTED.sub(r"\1\\\2", _escaped(words))


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def _attachment(attachment: Object, root: str | None) -> str:
    label = " ".join((attachment["alt"] or attachment["name"]).split())
    escaped = _escaped(label)
    if root is None:
        words = _("Picture: %(name)s") if is_picture(attachment) else _("Document: %(name)s")
        return f"*{words % {'name': escaped}}*"
    return f"{'!' if is_picture(attachment) else ''}[{escaped}]({root}{attachment['file']})"


def author(message: Object, name_of: NameOf) -> str:
    """Return the author to show above a message: "You", or the model's name."""
    if message["role"] == Message.Role.USER:
        return _("You")
    return name_of(message["model"]) or _("Assistant")


def written_time(moment: str, zone: tzinfo) -> str:
    """Return a time of the document in the active language, with its time zone."""
    local = datetime.fromisoformat(moment).astimezone(zone)
    return f"{short_date(local)}, {local:%H:%M} {local.tzname()}"


class Labels:
    """The labels of links and footnotes in the turns so far, `[1]: …` and `[^1]: …`.

    In one file, the first definition of a label counts: another turn's `[1]` would lead to the wrong source.
    """

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
