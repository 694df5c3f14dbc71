"""Documents beside a conversation: ChatGPT's canvas, Claude's artifacts and files, each in its versions.

A reply shows each document as it was when the reply was written, so every branch has versions of its own.
ChatGPT's canvas has them in the calls of a tool that create, change and comment them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from . import foreign
from .patterns import MAX_DOCUMENT_CHARS, OF_FILE

MAX_DOCUMENTS = 200  # that a branch remembers; of an older one only what changes is shown
MAX_SHOWN_CHARS = 4_000_000  # of all versions in a conversation; beyond, only what changes is shown
CREATE, UPDATE, COMMENT = (f"canmore.{name}_textdoc" for name in ("create", "update", "comment"))
CALLS = (CREATE, UPDATE, COMMENT)
CODE = "code/"  # prefix of the language in the type of a document that is code
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


class Canvas:
    """The documents of one conversation. `mapping`: its nodes, of which some name the document of a call."""

    def __init__(self, mapping: dict[str, Any]) -> None:
        self._mapping = mapping
        self._documents = Documents()
        self._node = ""

    def called(self, node: str) -> str:
        """Return the tool that a node calls; "" for none."""
        raw = foreign.fields(self._mapping.get(node))
        return foreign.text(foreign.fields(raw.get("message")).get("recipient"))

    def begin(self, node: str, parent: str) -> None:
        self._node = node
        self._documents.begin(node, parent)

    def shown(self, recipient: str, sent: str, about: dict[str, Any]) -> str:
        """Return what a reply shows of a call: the document as the call leaves it, or the comments."""
        call = foreign.parsed(sent)
        if not isinstance(call, dict):
            return sent  # not as expected, such as a call that was cut off
        if recipient == COMMENT:
            return "\n\n".join(map(_comment, foreign.objects(call.get("comments"))))
        key = self._key(about)
        if recipient == CREATE or isinstance(call.get("content"), str):
            kind = foreign.text(call.get("type"))
            language = kind.removeprefix(CODE) if kind.startswith(CODE) else None
            document = Document(foreign.text(call.get("name")), language, foreign.text(call.get("content")))
            return self._documents.shown(self._documents.write(key, document), "")
        return self._updated(key, foreign.objects(call.get("updates")))

    def _updated(self, key: str, updates: list[dict[str, Any]]) -> str:
        """Return the document after the updates, and the replacements whose place is in no document."""
        changed: dict[str, list[str]] = {}
        unplaced: list[str] = []
        for update in updates:
            new = foreign.text(update.get("replacement"))
            change = partial(
                OF_FILE.replaced,
                pattern=foreign.text(update.get("pattern")),
                replacement=new,
                multiple=update.get("multiple") is True,
            )
            found = self._documents.change(key, change)
            (unplaced if found is None else changed.setdefault(found, [])).append(new)
        shown = [self._documents.shown(each, "\n\n".join(changes)) for each, changes in changed.items()]
        return "\n\n".join(filter(None, shown + unplaced))

    def _key(self, about: dict[str, Any]) -> str:
        """Return the id of the document of a call, which its result names; "" if neither does."""
        node = foreign.fields(self._mapping.get(self._node))
        found = [foreign.fields(about.get("canvas"))]
        for child in foreign.listed(node.get("children")):
            result = foreign.fields(self._mapping.get(child) if isinstance(child, str) else None)
            metadata = foreign.fields(foreign.fields(result.get("message")).get("metadata"))
            found.append(foreign.fields(metadata.get("canvas")))
        return next((key for each in found if (key := foreign.text(each.get("textdoc_id")))), "")


def _comment(raw: dict[str, Any]) -> str:
    passage, comment = foreign.text(raw.get("pattern")), foreign.text(raw.get("comment"))
    return "\n\n".join(filter(None, [foreign.quoted(passage), comment]))
