"""Claude's export: `conversations.json`, a list of conversations with their `chat_messages`.

Anthropic does not document it. This reader was checked against excerpts of public readers of the export; no
real export was at hand:
https://github.com/jmorenobl/claude-conversation-extractor,
https://github.com/socketteer/Claude-Conversation-Exporter

BLOCKS has what each type of block is kept as, TOOLS the same for the calls of Claude's own tools.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from chat.transfer.records import ImportedConversation
from chat.transfer.tree import Node

from . import foreign, markup
from .documents import Change, Document, Documents, inserted
from .drafts import MAX_PASTE_CHARS, Draft, Drafts

Raw = dict[str, Any]
FILE_KEYS = ("files", "files_v2", "attachments")
CODE_TYPE = "application/vnd.ant.code"
MARKDOWN_TYPE = "text/markdown"
# Older exports have a sentence where a tool was called.
PLACEHOLDER = re.compile(r"```\s*This block is not supported on your current device yet\.\s*```")
UNSEEN = ("token_budget", "flag")  # blocks that show nothing


def matches(value: Raw) -> bool:
    return isinstance(value.get("chat_messages"), list)


def conversation(value: Raw) -> ImportedConversation:
    drafts, documents = Drafts(), Documents()
    found: list[tuple[str, str, Raw]] = []
    for place, raw in enumerate(foreign.objects(value["chat_messages"])):
        key = foreign.text(raw.get("uuid")) or str(place)
        before = found[-1][0] if found else ""
        # Older exports have no parents: each message follows the one before.
        parent = foreign.text(raw.get("parent_message_uuid")) if "parent_message_uuid" in raw else before
        found.append((key, parent, raw))
    last = found[-1][0] if found else ""
    nodes = []
    for key, parent, raw in foreign.in_order(found):
        documents.begin(key, parent)
        nodes.append(_node(key, parent, raw, drafts, documents))
    return drafts.conversation(
        "claude",
        nodes,
        foreign.text(value.get("current_leaf_message_uuid")) or last,
        key=foreign.text(value.get("uuid")),
        title=foreign.text(value.get("name")),
        model=foreign.model(value.get("model")),
        created=foreign.moment(value.get("created_at")),
        updated=value.get("updated_at"),
        pinned=value.get("is_starred") is True,
        tags=foreign.tags([foreign.fields(value.get("project")).get("name")]),
    )


def _node(key: str, parent: str, raw: Raw, drafts: Drafts, documents: Documents) -> Node:
    draft = drafts.new(raw.get("sender"))
    reader = _Blocks(draft, documents)
    blocks = foreign.objects(raw.get("content"))
    reader.read(blocks)
    if not draft.has_text:  # older exports have no blocks
        whole = foreign.text(raw.get("text")) or foreign.text(raw.get("content"))
        text, calls = PLACEHOLDER.subn("", whole)
        reader.text({"text": text})
        for _ in range(0 if blocks else calls):
            draft.leave_out("tool", "")
    _files(draft, raw)
    return Node(key, parent, draft.message(key, created=foreign.moment(raw.get("created_at"))))


def _files(draft: Draft, raw: Raw) -> None:
    """Keep the text that Claude has taken from files, and the names of those without it.

    A long paste is an attachment without a name, and is a part of the text. A file may be in three lists.
    """
    files = [each for field in FILE_KEYS for each in foreign.objects(raw.get(field))]
    names = foreign.names(files, "file_name", "name")
    kept: set[str | tuple[str, str]] = set()
    for name, each in zip(names, files, strict=True):
        text = foreign.text(each.get("extracted_content"))
        if text.strip() and name == foreign.UNNAMED_ATTACHMENT and len(text) <= MAX_PASTE_CHARS:
            draft.add(text)
        elif text.strip() and (name, text) not in kept:
            draft.document("pasted.txt" if name == foreign.UNNAMED_ATTACHMENT else name, text)
            kept.add((name, text))
        if text.strip():
            kept.add(name)
    for name in dict.fromkeys(names):
        if name not in kept:
            draft.leave_out_file(name)


def _joined(blocks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks, with neighbours that are pieces of one text as one: a citation parts a text."""
    found: list[dict[str, Any]] = []
    for block in blocks:
        before = found[-1] if found and found[-1].get("type") == block.get("type") == "text" else {}
        words = foreign.text(before.get("text")), foreign.text(block.get("text"))
        if all(words) and (words[0][-1].isspace() or words[1][0].isspace() or words[1][0] in ",.;:!?)"):
            cited = [*foreign.objects(before.get("citations")), *foreign.objects(block.get("citations"))]
            found[-1] = {**before, "text": "".join(words), "citations": cited}
        else:
            found.append(block)
    return found


class _Blocks:
    def __init__(self, draft: Draft, documents: Documents) -> None:
        self._draft, self._documents = draft, documents
        self._titles: dict[str, str] = {}  # by the addresses that a search found

    def read(self, blocks: list[Raw]) -> None:
        for block in _joined(blocks):
            kind = foreign.text(block.get("type"))
            if kind in BLOCKS:
                BLOCKS[kind](self, block)
            elif kind not in UNSEEN:
                self._draft.unknown(block, kind)

    def text(self, block: Raw) -> None:
        text, done = foreign.text(block.get("text")), 0
        for element in markup.elements(text):
            self._draft.add(text[done : element.start()].strip("\n"))
            done = element.end()
            if element["about"] is None:
                self._draft.think(element["thought"].strip())
                continue
            about = {
                **dict(markup.ATTRIBUTE.findall(element["about"])),
                "content": element["artifact"].strip("\n"),
            }
            self.artifact(about | {"id": about["identifier"]})
        self._draft.add(text[done:] if not done else text[done:].strip("\n"))
        for citation in foreign.objects(block.get("citations")):
            self._cite(citation | foreign.fields(citation.get("details")), "")

    def _cite(self, source: Raw, passage: str) -> None:
        url = foreign.text(source.get("url"))
        title = foreign.text(source.get("title")) or self._titles.get(url, "")
        if not self._titles.get(url):
            self._draft.cite(title, url, passage)
        for each in foreign.objects(source.get("sources")):
            self._cite(each, "")

    def thinking(self, block: Raw) -> None:
        summaries = [foreign.text(each.get("summary")) for each in foreign.objects(block.get("summaries"))]
        self._draft.think(foreign.text(block.get("thinking")) or "\n\n".join(summaries))

    def call(self, block: Raw) -> None:
        """Keep what a call shows; one that shows nothing, such as of a view, is kept with the reasoning."""
        name, sent = foreign.text(block.get("name")), block.get("input")
        before = self._draft.texts
        if isinstance(sent, dict) and name in TOOLS:
            TOOLS[name](self, sent)
        if self._draft.texts == before:
            self._draft.call(name, sent)

    def artifact(self, sent: Raw) -> None:
        """Show a document as a call leaves it: created, with a part replaced, or written anew."""
        key = foreign.text(sent.get("id"))
        if isinstance(sent.get("old_str"), str) and not foreign.text(sent.get("content")):
            self._replace(key, sent)
            return
        old = self._documents.known(key)
        title = foreign.text(sent.get("title")) or (old.title if old else "")
        kind = foreign.text(sent.get("type"))
        language = _language(kind, foreign.text(sent.get("language"))) if kind or not old else old.language
        self._show(key, Document(title, language, foreign.text(sent.get("content"))))
        for citation in foreign.objects(sent.get("md_citations")) + foreign.objects(sent.get("citations")):
            self._cite(citation, "")

    def file(self, sent: Raw) -> None:
        """Show a file that Claude writes with its tools."""
        path = foreign.text(sent.get("path"))
        if isinstance(sent.get("old_str"), str):
            self._replace(path, sent)
            return
        if isinstance(line := sent.get("insert_line"), int) and self._documents.known(path):
            new = foreign.text(sent.get("insert_text")) or foreign.text(sent.get("new_str"))
            self._change(path, partial(inserted, line=line, new=new), new)
            return
        extension = path.rpartition("/")[2].rpartition(".")[2].lower()
        language = None if extension in ("md", "markdown") else extension if "." in path else ""
        text = foreign.first(sent, "file_text", "content")
        self._show(path, Document(path.rpartition("/")[2], language, text))

    def _show(self, key: str, document: Document) -> None:
        if document.content.strip():
            self._draft.add(self._documents.shown(self._documents.write(key, document), ""))

    def _replace(self, key: str, sent: Raw) -> None:
        old, new = foreign.text(sent.get("old_str")), foreign.text(sent.get("new_str"))
        self._change(key, partial(_replaced, old=old, new=new), new)

    def _change(self, key: str, change: Change, new: str) -> None:
        changed = self._documents.change(key, change)
        self._draft.add(new if changed is None else self._documents.shown(changed, new))

    def code(self, sent: Raw, language: str, field: str) -> None:
        self._draft.code(language, foreign.text(sent.get(field)))

    def result(self, block: Raw) -> None:
        """Keep what a tool returned: sources, the output of code, and with the reasoning anything else."""
        name = foreign.text(block.get("name"))
        returned = block.get("content")
        for part in foreign.objects([returned] if isinstance(returned, dict) else returned):
            kind = foreign.text(part.get("type"))
            if kind == "knowledge" or part.get("url"):
                url, title = foreign.text(part.get("url")), foreign.text(part.get("title"))
                self._draft.cite(title, url, foreign.text(part.get("text")))
                self._titles[url] = title
            elif kind in FILES:
                FILES[kind](self, part)
            elif name in OUTPUTS:
                self._draft.code("", markup.printed(foreign.text_in(part)))
            elif link := foreign.fields(part.get("link")):
                self._cite(link, "")
            elif name not in CONFIRMING:
                self._returned(name, part)
        if isinstance(returned, str) and name not in CONFIRMING:
            self._draft.result(name, returned)

    def _returned(self, name: str, part: Raw) -> None:
        if text := foreign.text_in(part):
            self._draft.result(name, text)
        elif part.get("type") != "text":
            self._draft.leave_out("other", foreign.text(part.get("type")))

    def picture(self, block: Raw) -> None:
        source = foreign.fields(block.get("source"))
        name = foreign.first(block, "file_name", "title")
        data = foreign.text(source.get("data")) if source.get("type") == "base64" else ""
        if data and block.get("type") == "image":
            self._draft.picture(name, f"data:{foreign.text(source.get('media_type'))};base64,{data}")
        else:
            self._draft.leave_out_file(name or foreign.UNNAMED_ATTACHMENT)

    def resource(self, block: Raw) -> None:
        name = foreign.text(block.get("name")) or foreign.text(block.get("file_path")).rpartition("/")[2]
        self._draft.leave_out_file(name or foreign.UNNAMED_ATTACHMENT)

    def note(self, block: Raw) -> None:
        self._draft.add(foreign.text(block.get("title")), foreign.text(block.get("text")))


Read = Callable[[_Blocks, Raw], None]
BLOCKS: dict[str, Read] = {
    "text": _Blocks.text,
    "thinking": _Blocks.thinking,
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use"), _Blocks.call),
    **dict.fromkeys(("tool_result", "mcp_tool_result"), _Blocks.result),
    "voice_note": _Blocks.note,
    "image": _Blocks.picture,
    "document": _Blocks.picture,
}
FILES: dict[str, Read] = {
    "image": _Blocks.picture,
    "document": _Blocks.picture,
    "local_resource": _Blocks.resource,
}
TOOLS: dict[str, Read] = {
    "artifacts": _Blocks.artifact,
    "create_file": _Blocks.file,
    "str_replace": _Blocks.file,
    "str_replace_based_edit_tool": _Blocks.file,
    "repl": partial(_Blocks.code, language="javascript", field="code"),
    "analysis_tool": partial(_Blocks.code, language="javascript", field="code"),
    "bash_tool": partial(_Blocks.code, language="bash", field="command"),
}
OUTPUTS = ("repl", "analysis_tool", "bash_tool")
# Tools that return “OK”.
CONFIRMING = ("artifacts", "create_file", "str_replace", "str_replace_based_edit_tool", "present_files")


def _language(kind: str, language: str) -> str | None:
    """Return the language of an artifact of this type; None for Markdown."""
    if kind == MARKDOWN_TYPE:
        return None
    return language if kind == CODE_TYPE else foreign.language(kind)


def _replaced(content: str, old: str, new: str) -> str | None:
    return content.replace(old, new, 1) if old and old in content else None
