"""The definitions in a text so far: the destinations of `[label]` and the footnotes of `[^label]`."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from pyromark import Markdown, Options

from .characters import JOINER, neutralise_controls, restored

MARKDOWN_OPTIONS = (
    Options.ENABLE_TABLES
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_GFM  # alerts
)
# Maximum of characters that link destinations add in one parse; the parser has a limit of its own as well.
EXPANDED = 100_000

Link = tuple[str, str]  # destination, title

PARSER = Markdown(options=MARKDOWN_OPTIONS)
CITATION = "source:"  # the destination of a citation, with its number
_NUMBER = re.compile(r"[1-9]\d{0,2}", re.ASCII)
_ADJACENT = re.compile(r"\[\d{1,3}\](?=\[\d{1,3}\])", re.ASCII)
_MENTIONED = re.compile(r"\[\^([^\]\s]+)\]")


class LinkDefinitions:
    """The definitions in closed blocks, for the blocks after them. The first one of a label counts.

    Without a definition, `[3]` is a citation if there are so many `sources`.
    """

    def __init__(self, sources: int = 0) -> None:
        self.sources = sources
        self._links: dict[str, Link] = {}
        self._footnotes: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._links or self._footnotes)

    def learn(self, source: str, footnotes: Iterable[str]) -> None:
        """Add the definitions in closed blocks and between them; `footnotes` are the labels of footnotes."""
        if "]:" in source:
            for label, link in PARSER.reference_definitions(neutralise_controls(source)).items():
                self._links.setdefault(_folded(label), (link["dest"], link["title"] or ""))
        for label in footnotes:
            self._footnotes.setdefault(_folded(label), label)

    def parser(self) -> Markdown:
        """Return a parser, for a single parse, that resolves the links defined so far."""
        if not self._links and not self.sources:
            return PARSER
        return Markdown(options=MARKDOWN_OPTIONS, broken_link_callback=self._resolver())

    def apart(self, source: str) -> str:
        """Return the source with a JOINER between adjacent citations, or `[1][2]` would be one link."""
        return _ADJACENT.sub(rf"\g<0>{JOINER}", source) if self.sources else source

    def preamble(self, source: str) -> str:
        """Return stub definitions, to put before `source`, for the known footnotes it refers to."""
        if not self._footnotes or "[^" not in source:
            return ""
        mentioned = {_folded(label) for label in _MENTIONED.findall(source)} & self._footnotes.keys()
        return "".join(f"[^{self._footnotes[label]}]: .\n\n" for label in mentioned) + "***\n\n"

    def _is_source(self, label: str) -> bool:
        return bool(_NUMBER.fullmatch(label)) and int(label) <= self.sources

    def _resolver(self) -> Callable[[Any], Link | None]:
        left = EXPANDED

        def resolve(link: dict[str, Any]) -> Link | None:
            nonlocal left
            label = restored(link["reference"])
            found = self._links.get(_folded(label))
            if found is None and link["link_type"] == "Shortcut" and self._is_source(label):
                return CITATION + label, ""
            left -= len(found[0]) if found else 0
            return found if left >= 0 else None

        return resolve


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())
