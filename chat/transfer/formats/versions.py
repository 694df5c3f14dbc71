"""Documents beside a conversation: ChatGPT's canvas, Claude's artifacts and files, each in its versions.

A reply shows each document as it was when the reply was written, so every branch has versions of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import foreign

MAX_DOCUMENTS = 200  # that a branch remembers; of an older one only what changes is shown
MAX_DOCUMENT_CHARS = 200_000
MAX_SHOWN_CHARS = 4_000_000  # of all versions in a conversation; beyond, only what changes is shown
Change = Callable[[str], str | None]  # returns the new content; None if the place to change is not in it


@dataclass(frozen=True, slots=True)
class Document:
    """A version of a document. `language`: of code, None for Markdown, which is shown as it is."""

    title: str
    language: str | None
    content: str

    def shown(self) -> str:
        is_markdown = self.language is None
        body = self.content if is_markdown else foreign.code_block(self.language or "", self.content)
        title = foreign.one_line(self.title)
        return f"**{title}**\n\n{body}" if title else body


class Documents:
    """The documents of one conversation. The nodes of its tree are read one by one, parents first."""

    def __init__(self) -> None:
        self._of_node: dict[str, dict[str, Document]] = {}  # the last one is the one written last
        self._node = ""
        self._shown_chars = 0

    def begin(self, node: str, parent: str) -> None:
        self._node = node
        self._of_node[node] = self._of_node.get(parent, {})

    def write(self, key: str, document: Document) -> str:
        """Keep a version of a document, and return its key."""
        others = {name: each for name, each in self._of_node[self._node].items() if name != key}
        key = key or f"#{len(self._of_node)}.{len(others)}"
        self._of_node[self._node] = dict([*others.items(), (key, document)][-MAX_DOCUMENTS:])
        return key

    def change(self, key: str, change: Change) -> str | None:
        """Change the document with this key, or else the last one that has the place. Return its key."""
        known = self._of_node[self._node]
        for name in [key] if key in known else reversed(known):
            content = change(known[name].content)
            if content is not None and len(content) <= MAX_DOCUMENT_CHARS:
                return self.write(name, replace(known[name], content=content))
        return None

    def shown(self, key: str, changes: str) -> str:
        """Return what a reply shows of a document: the version, or its changes if that would be too much."""
        shown = self._of_node[self._node][key].shown()
        self._shown_chars += len(shown)
        return changes if changes and self._shown_chars > MAX_SHOWN_CHARS else shown

    def known(self, key: str) -> Document | None:
        return self._of_node[self._node].get(key)


def inserted(content: str, line: int, new: str) -> str | None:
    """Return the content with new lines below this one, counted from 1; 0 is above all."""
    lines = content.split("\n")
    if not 0 <= line <= len(lines):
        return None
    return "\n".join([*lines[:line], *new.removesuffix("\n").split("\n"), *lines[line:]])
