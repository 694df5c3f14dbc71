"""The pieces of texts in Claude's exports: artifacts and reasoning in older ones, and parted blocks."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from . import directives, foreign

ELEMENT = re.compile(
    r'<antArtifact\s(?=[^<>]*\bidentifier=")(?P<about>[^<>]*)>(?P<artifact>.*?)(?:</antArtifact>|\Z)'
    r"|<antThinking>(?P<thought>(?:[^<]|<(?!/?antThinking>))*)</antThinking>",
    re.DOTALL,
)
BEGUN = re.compile(r"(?<!`)<ant(?:Artifact\s|Thinking>)")


def elements(text: str) -> Iterator[re.Match[str]]:
    """Yield the elements in a text that do not stand in code."""
    at = 0
    while begun := BEGUN.search(text, at):
        if fence := directives.open_fence(text[at : begun.start()]).strip():
            marks = fence[: len(fence) - len(fence.lstrip(fence[0]))]
            closing = re.compile(rf"^ {{0,3}}{marks}[^\n]*$", re.MULTILINE).search(text, begun.start())
            at = closing.end() if closing else len(text)
        elif element := ELEMENT.match(text, begun.start()):
            yield element
            at = element.end()
        else:
            at = begun.end()


def joined(blocks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks, with neighbours that are pieces of one text as one: a citation parts a text."""
    found: list[dict[str, Any]] = []
    for block in blocks:
        before = found[-1] if found and found[-1].get("type") == block.get("type") == "text" else {}
        words = foreign.text(before.get("text")), foreign.text(block.get("text"))
        if all(words) and (words[0][-1].isspace() or words[1][0].isspace() or words[1][0] in ",.;:!?)"):
            cited = [*foreign.records(before.get("citations")), *foreign.records(block.get("citations"))]
            found[-1] = {**before, "text": "".join(words), "citations": cited}
        else:
            found.append(block)
    return found
