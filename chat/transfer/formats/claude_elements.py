"""The elements in the text of Claude's older exports: artifacts, and reasoning."""

import re
from collections.abc import Iterator

from . import directives

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
