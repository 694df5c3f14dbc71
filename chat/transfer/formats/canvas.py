"""ChatGPT's canvas: documents beside the conversation, which calls of a tool create, change and comment."""

from functools import partial
from typing import Any

from . import foreign
from .patterns import OF_FILE
from .versions import Document, Documents

CREATE, UPDATE, COMMENT = (f"canmore.{name}_textdoc" for name in ("create", "update", "comment"))
CALLS = (CREATE, UPDATE, COMMENT)
CODE = "code/"  # prefix of the language in the type of a document that is code


class Canvas:
    """The documents of one conversation. `mapping`: its nodes, of which some name the document of a call."""

    def __init__(self, mapping: dict[str, Any]) -> None:
        self._mapping = mapping
        self._documents = Documents()
        self._node = ""

    def called(self, node: str) -> str:
        """Return the tool that a node calls; "" for none."""
        raw = foreign.record(self._mapping.get(node))
        return foreign.text(foreign.record(raw.get("message")).get("recipient"))

    def begin(self, node: str, parent: str) -> None:
        self._node = node
        self._documents.begin(node, parent)

    def shown(self, recipient: str, sent: str, about: dict[str, Any]) -> str:
        """Return what a reply shows of a call: the document as the call leaves it, or the comments."""
        call = foreign.parsed(sent)
        if not isinstance(call, dict):
            return sent  # not as expected, such as a call that was cut off
        if recipient == COMMENT:
            return "\n\n".join(map(_comment, foreign.records(call.get("comments"))))
        key = self._key(about)
        if recipient == CREATE or isinstance(call.get("content"), str):
            kind = foreign.text(call.get("type"))
            language = kind.removeprefix(CODE) if kind.startswith(CODE) else None
            document = Document(foreign.text(call.get("name")), language, foreign.text(call.get("content")))
            return self._documents.shown(self._documents.write(key, document), "")
        return self._updated(key, foreign.records(call.get("updates")))

    def _updated(self, key: str, updates: list[dict[str, Any]]) -> str:
        """Return the document after the updates, and the replacements whose place is in no document."""
        changed: dict[str, list[str]] = {}
        lost: list[str] = []
        for update in updates:
            new = foreign.text(update.get("replacement"))
            change = partial(
                OF_FILE.replaced,
                pattern=foreign.text(update.get("pattern")),
                replacement=new,
                multiple=update.get("multiple") is True,
            )
            found = self._documents.change(key, change)
            (lost if found is None else changed.setdefault(found, [])).append(new)
        shown = [self._documents.shown(each, "\n\n".join(changes)) for each, changes in changed.items()]
        return "\n\n".join(filter(None, shown + lost))

    def _key(self, about: dict[str, Any]) -> str:
        """Return the id of the document of a call, which its result names; "" if neither does."""
        node = foreign.record(self._mapping.get(self._node))
        children = node.get("children")
        found = [foreign.record(about.get("canvas"))]
        for child in children if isinstance(children, list) else ():
            result = foreign.record(self._mapping.get(child) if isinstance(child, str) else None)
            metadata = foreign.record(foreign.record(result.get("message")).get("metadata"))
            found.append(foreign.record(metadata.get("canvas")))
        return next((key for each in found if (key := foreign.text(each.get("textdoc_id")))), "")


def _comment(raw: dict[str, Any]) -> str:
    passage, comment = foreign.text(raw.get("pattern")), foreign.text(raw.get("comment"))
    return "\n\n".join(filter(None, [foreign.quoted(passage), comment]))
