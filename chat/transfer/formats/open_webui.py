"""Open WebUI's export: a list of chats, whose `chat.history` is a tree of messages by their ids.

https://github.com/open-webui/open-webui/blob/main/src/lib/components/chat/Settings/DataControls.svelte
https://github.com/open-webui/open-webui/blob/main/backend/open_webui/utils/middleware.py (`serialize_output`)

`markup.py` has what each type of `details` element in a reply is kept as, ITEMS the same for `output`, where
newer versions have it.
"""

from collections.abc import Callable
from typing import Any

from chat.limits import MAX_REASON_CHARS
from chat.transfer.records import ASSISTANT, ImportedConversation
from chat.transfer.tree import Node

from . import foreign, markup
from .drafts import Draft, Drafts

Raw = dict[str, Any]
SUGGESTIONS = ("followUps", "embeds")  # questions that are proposed, and pages of tools
RATING_OF_NUMBER = {1: True, -1: False}


def matches(value: Raw) -> bool:
    return bool(_messages(value)) or isinstance(_history(value).get("messages"), dict)


def conversation(value: Raw) -> ImportedConversation:
    chat, history = _chat(value), _history(value)
    drafts = Drafts()
    nodes: list[Node] = []
    for key, raw in _messages(value):
        nodes += _nodes(key, raw, drafts)
    models = foreign.listed(chat.get("models"))
    of_chat = foreign.names(map(_file, foreign.objects(chat.get("files"))), "name", "filename")
    for name in of_chat:
        if name not in {*drafts.seen, foreign.UNNAMED_ATTACHMENT}:
            drafts.left_out["attachment"].append(name)
    return drafts.conversation(
        "open_webui",
        nodes,
        foreign.text(history.get("currentId")),
        key=foreign.text(value.get("id")) or foreign.text(chat.get("id")),
        title=foreign.text(value.get("title")) or foreign.text(chat.get("title")),
        model=foreign.model(models[0]) if models else "",
        system=foreign.text(foreign.fields(chat.get("params")).get("system"))
        or foreign.text(chat.get("system")),
        created=foreign.moment(value.get("created_at")) or foreign.moment(chat.get("timestamp")),
        updated=value.get("updated_at"),
        pinned=value.get("pinned") is True,
        archived=value.get("archived") is True,
        tags=foreign.tags(foreign.fields(value.get("meta")).get("tags") or chat.get("tags")),
    )


def _chat(value: Raw) -> Raw:
    """Return the chat itself: newer exports wrap it in its database row, older ones do not."""
    return value["chat"] if isinstance(value.get("chat"), dict) else value


def _history(value: Raw) -> Raw:
    return foreign.fields(_chat(value).get("history"))


def _messages(value: Raw) -> list[tuple[str, Raw]]:
    """Return the messages by their ids. The oldest exports have no tree, or an empty one, and a list."""
    found = _history(value).get("messages")
    if isinstance(found, dict) and found:
        return [(foreign.text(key), foreign.fields(raw)) for key, raw in found.items()]
    listed = foreign.objects(_chat(value).get("messages")) if "models" in _chat(value) else []
    chain: list[tuple[str, Raw]] = []
    for place, raw in enumerate(listed):
        before = chain[-1][0] if chain else None
        chain.append((foreign.text(raw.get("id")) or str(place), {"parentId": before, **raw}))
    return chain


def _nodes(key: str, raw: Raw, drafts: Drafts) -> list[Node]:
    """Return the message, and the reply that several models’ replies were merged into as a version of it."""
    parent = foreign.text(raw.get("parentId"))
    draft = drafts.new(raw.get("role"))
    content = raw.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in foreign.objects(parts):
        _part(draft, part)
    if draft.role == ASSISTANT:
        _read_output(draft, raw)
    for each in foreign.objects(raw.get("code_executions")):
        _executed(draft, each)
    for each in foreign.objects(raw.get("sources")) + foreign.objects(raw.get("citations")):
        _cite(draft, each)
    for status in foreign.objects(raw.get("statusHistory")):
        _status(draft, status)
    for name in SUGGESTIONS:
        for each in foreign.listed(raw.get(name)):
            draft.leave_out("other", foreign.text_in(each))
    for each in foreign.objects(raw.get("files")):
        _keep_file(draft, each)
    for image in foreign.listed(raw.get("images")):
        draft.picture("", foreign.text(image) or foreign.text(foreign.fields(image).get("url")))
    message = draft.message(key, **_about(raw, draft.role))
    merged = foreign.fields(raw.get("merged"))
    version = drafts.new(ASSISTANT)
    version.add(foreign.text(merged.get("content")))
    more = version.message(f"{key} merged", created=message.created if message else None)
    return [Node(key, parent, message), *([Node(f"{key} merged", parent, more)] if more else [])]


def _about(raw: Raw, role: str) -> Raw:
    """Return the fields of a message beside its content."""
    about: Raw = {"created": foreign.moment(raw.get("timestamp"))}
    if role != ASSISTANT:
        return about
    annotation = foreign.fields(raw.get("annotation"))
    rating = annotation.get("rating")
    thumb = RATING_OF_NUMBER.get(rating) if isinstance(rating, int) else None
    said = (foreign.text(annotation.get(name)).strip() for name in ("reason", "comment"))
    reason = "\n".join(filter(None, said))[:MAX_REASON_CHARS]
    return about | {
        "model": foreign.model(raw.get("model")),
        "feedback": None if thumb is None else (thumb, reason),
    }


def _part(draft: Draft, part: Raw) -> None:
    """Keep a part of the content, which is one text in most exports."""
    image = part.get("image_url")
    if image is not None:
        url = foreign.text(image) or foreign.text(foreign.fields(image).get("url"))
        draft.picture(foreign.text(part.get("name")), url)
    elif draft.role == ASSISTANT and (text := foreign.text_in(part)):
        markup.read_details(text, draft)
    else:
        draft.unknown(part, None if part.get("type") == "text" else foreign.text(part.get("type")))


def _read_output(draft: Draft, raw: Raw) -> None:
    """Keep what only `output` has; and of a reply without any text, its error."""
    items = foreign.objects(raw.get("output"))
    has_text, has_elements = draft.has_text, markup.has_details(foreign.text(raw.get("content")))
    for item in items:
        kind = foreign.text(item.get("type"))
        if has_elements or (kind == "message" and has_text):
            continue
        ITEMS.get(kind, _unknown)(draft, item)
    error = foreign.text_in(raw.get("error"))
    if not draft.has_text:
        draft.add(error)
    elif error:
        draft.leave_out("other", error)


def _returned(draft: Draft, item: Raw) -> None:
    draft.result(foreign.text(item.get("name")), foreign.text_in(item.get("output")))
    for each in foreign.objects(item.get("files")):
        _keep_file(draft, each)


def _interpreted(draft: Draft, item: Raw) -> None:
    draft.code(foreign.text(item.get("lang")) or "python", foreign.text(item.get("code")))
    draft.code("", markup.printed(item.get("output")))


def _unknown(draft: Draft, item: Raw) -> None:
    draft.think(foreign.text_in(item))


ITEMS: dict[str, Callable[[Draft, Raw], None]] = {
    "message": lambda draft, item: draft.add(foreign.text_in(item.get("content"))),
    "reasoning": lambda draft, item: draft.think(foreign.text_in(item.get("summary") or item.get("content"))),
    "function_call": lambda draft, item: draft.call(
        foreign.text(item.get("name")), foreign.parsed(item.get("arguments"))
    ),
    "function_call_output": _returned,
    "open_webui:code_interpreter": _interpreted,
}


def _executed(draft: Draft, execution: Raw) -> None:
    """Keep code that was run from a reply, unless the reply shows it already."""
    result = foreign.fields(execution.get("result"))
    draft.code(foreign.text(execution.get("language")), foreign.text(execution.get("code")))
    draft.code("", markup.printed(result))
    for each in foreign.objects(result.get("files")):
        draft.picture(foreign.text(each.get("name")), foreign.text(each.get("url")))


def _cite(draft: Draft, found: Raw) -> None:
    """Keep the passages of a source; the marks [1], [2] count the sources in this order."""
    source = foreign.fields(found.get("source"))
    about = foreign.listed(found.get("metadata"))
    for place, passage in enumerate(foreign.listed(found.get("document")) or [""]):
        metadata = foreign.fields(about[place]) if place < len(about) else {}
        urls = (metadata.get("source"), metadata.get("url"), source.get("url"), source.get("id"))
        url = next((each for each in map(foreign.address, urls) if each), "")
        names = (metadata.get("title"), source.get("name"), metadata.get("name"), metadata.get("source"))
        title = next((each for each in map(foreign.one_line, names) if each), "")
        page = metadata.get("page")
        number = page + 1 if isinstance(page, int) and not isinstance(page, bool) and 0 <= page < 1e5 else 0
        draft.cite(title, url, foreign.text(passage), number)


def _status(draft: Draft, status: Raw) -> None:
    """Keep the pages that a search has opened, unless they are cited already."""
    found = [{"link": url} for url in foreign.listed(status.get("urls"))]
    for each in [*foreign.objects(status.get("items")), *found]:
        url = foreign.address(each.get("link") or each.get("url"))
        if url and not draft.cites(url):
            draft.cite(foreign.text(each.get("title")), url)


def _file(each: Raw) -> Raw:
    """Return a file's fields, which are in two places."""
    return {**each, **foreign.fields(each.get("file"))}


def _keep_file(draft: Draft, each: Raw) -> None:
    """Attach a picture that is in the export, or the text of a document; name any other file."""
    file = _file(each)
    (name,) = foreign.names([file], "name", "filename", "type")
    text = foreign.text(foreign.fields(file.get("data")).get("content"))
    text = text or foreign.text(file.get("content")) or foreign.text_in(file.get("docs"))
    if file.get("type") == "image":
        draft.picture(foreign.text(file.get("name")), foreign.text(file.get("url")))
    elif text.strip():
        draft.document(name, text)
    else:
        draft.leave_out_file(name)
