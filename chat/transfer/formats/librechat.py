"""LibreChat's export of one conversation: its messages flat, or as a tree with `children`.

https://github.com/danny-avila/LibreChat/blob/main/client/src/hooks/Conversations/useExportConversation.ts
https://github.com/danny-avila/LibreChat/blob/main/packages/data-provider/src/types/assistants.ts (the parts)
https://github.com/danny-avila/LibreChat/blob/main/client/src/utils/citations.ts

PARTS has what each type of part is kept as, `_shown` the same for the directives in a text.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from chat.limits import MAX_REASON_CHARS
from chat.transfer.problems import ConversationProblem
from chat.transfer.records import ASSISTANT, USER, ImportedConversation
from chat.transfer.tree import MAX_NODES, Node

from . import foreign, marks, markup
from .documents import Document
from .drafts import Draft, Drafts

Raw = dict[str, Any]
RATING_OF_NAME = {"thumbsUp": True, "thumbsDown": False}
# Marks of citations: characters for private use, or their escapes as text. Several can stand in one group.
PRIVATE = r"(?:\\ue20[0-46]|[\ue200-\ue204\ue206])"
CITATION = re.compile(
    rf"[ ]?{PRIVATE}{{1,10}}turn(?P<turn>[0-9]{{1,6}})(?P<kind>search|image|news|video|ref|file)"
    rf"(?P<place>[0-9]{{1,6}})(?={PRIVATE}|\b)|{PRIVATE}"
)
# Where the sources of each kind of citation are, in the attachment that a search leaves.
RESULTS_OF_KIND = {
    "search": "organic",
    "news": "topStories",
    "image": "images",
    "video": "videos",
    "ref": "references",
    "file": "sources",
}
SEARCHES = ("web_search", "file_search")  # types of attachments that hold sources
MARKDOWN = ("text/markdown", "text/md", "text/plain")
Sources = dict[tuple[str, str, int], Raw]  # {(turn, kind, place): source}


def matches(value: Raw) -> bool:
    tree = value.get("messagesTree", value.get("messages"))
    return "conversationId" in value and isinstance(tree, list)


def conversation(value: Raw) -> ImportedConversation:
    drafts = Drafts()
    options = foreign.fields(value.get("options"))
    return drafts.conversation(
        "librechat",
        [_node(raw, parent, drafts) for raw, parent in _flat(value)],
        key=foreign.text(value.get("conversationId")),
        title=foreign.text(value.get("title")),
        model=foreign.model(options.get("model")),
        system=foreign.first(options, "promptPrefix", "system", "instructions"),
        tags=foreign.tags(value.get("tags") or options.get("tags")),
    )


def _flat(value: Raw) -> list[tuple[Raw, str]]:
    """Return each message with its parent's id: of the message around it, else of `parentMessageId`."""
    found: list[tuple[Raw, str]] = []
    tree = value["messagesTree"] if "messagesTree" in value else value["messages"]
    pending = [(raw, "") for raw in reversed(foreign.objects(tree))]
    while pending:
        raw, parent = pending.pop()
        found.append((raw, parent or foreign.text(raw.get("parentMessageId"))))
        if len(found) > MAX_NODES:
            raise ConversationProblem("many")
        key = foreign.text(raw.get("messageId"))
        pending += [(child, key) for child in reversed(foreign.objects(raw.get("children")))]
    return found


def _node(raw: Raw, parent: str, drafts: Drafts) -> Node:
    key = foreign.text(raw.get("messageId"))
    draft = drafts.new(USER if raw.get("isCreatedByUser") is True else ASSISTANT)
    sources: Sources = {}
    for each in foreign.objects(raw.get("attachments")):
        _attachment(draft, each, sources)
    content = raw.get("content")
    for part in content if isinstance(content, list) else [content]:
        part = {"type": "text", "text": part} if isinstance(part, str) else foreign.fields(part)
        if part:
            _part(draft, part, sources)
    if not draft.has_text:
        _text(draft, raw, sources)
    for each in foreign.objects(raw.get("plugins")) + foreign.objects([raw.get("plugin")]):
        if name := foreign.first(each, "latest", "plugin"):
            draft.call(name, each.get("inputs"))
            draft.result(name, each.get("outputs"))
    for passage in reversed(foreign.listed(raw.get("quotes"))):
        draft.quote(foreign.text_in(passage))
    for each in foreign.objects(raw.get("files")):
        _file(draft, each)
    about: Raw = {"created": foreign.moment(raw.get("createdAt"))}
    if draft.role == ASSISTANT:
        about |= {"model": foreign.model(raw.get("model")), "feedback": _feedback(raw)}
    return Node(key, parent, draft.message(key, **about))


def _feedback(raw: Raw) -> tuple[bool, str] | None:
    found = foreign.fields(raw.get("feedback"))
    rating, tag = found.get("rating"), found.get("tag")
    thumb = RATING_OF_NAME.get(rating) if isinstance(rating, str) else None
    said = (
        foreign.text(tag) or foreign.text(foreign.fields(tag).get("key")),
        foreign.text(found.get("text")),
    )
    return None if thumb is None else (thumb, "\n".join(filter(None, said))[:MAX_REASON_CHARS])


def _text(draft: Draft, part: Raw, sources: Sources) -> None:
    text = _value(part.get("text"))
    if draft.role == ASSISTANT:
        text = CITATION.sub(partial(_link, sources=sources, draft=draft), text)
        text = markup.replaced_directives(text, partial(_shown, draft=draft))
    draft.add(text)


def _value(part: Any) -> str:
    return foreign.text(part.get("value")) if isinstance(part, dict) else foreign.text(part)


def _link(mark: re.Match[str], sources: Sources, draft: Draft) -> str:
    """Return what stands for a mark: a link to its source; nothing for a source that the file lacks."""
    if mark["kind"] is None:
        return ""
    source = sources.get((mark["turn"], mark["kind"], int(mark["place"])))
    if source is None:
        draft.leave_out("source", f"turn{mark['turn']}{mark['kind']}{mark['place']}")
        return ""
    marks.cite(source, draft)
    return f" ({marks.link(source)})"


def _shown(directive: markup.Directive, draft: Draft) -> str:
    """Return what a reply shows of a directive: an artifact, or the lines of an unknown one."""
    if directive.name == "thinking":
        draft.think("\n".join(directive.lines).strip())
        return ""
    title = directive.attributes.get("title", "")
    if directive.name != "artifact":
        return "\n".join([*([f"**{title}**", ""] if title else []), *directive.lines])
    kind = directive.attributes.get("type", "")
    language, content = directive.without_fence()
    shown = None if kind in MARKDOWN else language or foreign.language(kind)
    return "\n" + Document(title, shown, content).shown() + "\n"


def _call(draft: Draft, part: Raw, sources: Sources) -> None:
    """Keep the call of a tool: code and what it printed, any other call with the reasoning."""
    call = foreign.fields(part.get("tool_call"))
    if interpreted := foreign.fields(call.get("code_interpreter")):
        draft.code("python", foreign.text(interpreted.get("input")))
        for each in foreign.objects(interpreted.get("outputs")):
            draft.code("", foreign.text(each.get("logs")))
            if picture := foreign.fields(each.get("image")):
                _file(draft, picture)
        return
    called = foreign.fields(call.get("function")) or call
    name = foreign.text(called.get("name")) or foreign.text(call.get("type"))
    sent = foreign.parsed(called.get("args", called.get("arguments")))
    if isinstance(sent, dict) and isinstance(sent.get("code"), str):
        draft.code(foreign.text(sent.get("lang")), foreign.text(sent["code"]))
        draft.code("", markup.printed(called.get("output")))
    else:
        draft.call(name, sent)
        draft.result(name, called.get("output"))


def _picture(draft: Draft, part: Raw, sources: Sources) -> None:
    """Keep a picture: of a file that the export only names, or of an address."""
    file = foreign.fields(part.get("image_file"))
    url = part.get("image_url")
    url = foreign.text(url) or foreign.text(foreign.fields(url).get("url"))
    if url:
        draft.picture(foreign.text(part.get("filename")), url)
    else:
        _file(draft, {"type": "image_file"} | part | file)


PARTS: dict[str, Callable[[Draft, Raw, Sources], None]] = {
    "text": _text,
    "error": lambda draft, part, _: draft.add(_value(part.get("error")) or _value(part.get("text"))),
    "think": lambda draft, part, _: draft.think(_value(part.get("think"))),
    "tool_call": _call,
    "image_file": _picture,
    "image_url": _picture,
    "input_audio": lambda draft, part, _: draft.leave_out("recording", part["type"]),
    "video_url": lambda draft, part, _: draft.leave_out("recording", part["type"]),
    "summary": lambda draft, part, _: draft.think(foreign.text_in(part | {"type": None})),
    "agent_update": lambda draft, part, _: None,  # it shows only which agent goes on
}


def _part(draft: Draft, part: Raw, sources: Sources) -> None:
    kind = foreign.text(part.get("type"))
    if kind in PARTS:
        PARTS[kind](draft, part, sources)
    else:
        draft.unknown(part, kind)


def _attachment(draft: Draft, found: Raw, sources: Sources) -> None:
    """Note the sources that a search found, or keep the file that a tool has made."""
    kind = foreign.text(found.get("type"))
    search = foreign.fields(found.get(kind)) if kind in SEARCHES else {}
    turn = search.get("turn", 0)
    for name, field in RESULTS_OF_KIND.items():
        for place, source in enumerate(foreign.objects(search.get(field))):
            source = source | ({"title": source.get("fileName"), "type": "file"} if name == "file" else {})
            sources[str(turn), name, place] = source
    if kind == "memory":
        draft.call(kind, found.get(kind))
    elif kind not in SEARCHES:
        _file(draft, found)


def _file(draft: Draft, file: Raw) -> None:
    """Attach the text of a file, where the export has it; name any other file."""
    (name,) = foreign.names([file], "filename", "type")
    if text := foreign.text(file.get("text")):
        draft.document(name, text)
    else:
        draft.leave_out_file(name)
