"""Open WebUI's export: a list of chats, whose `chat.history` is a tree of messages by their ids.

https://github.com/open-webui/open-webui/blob/main/src/lib/components/chat/Settings/DataControls.svelte
"""

import html
import re
from typing import Any

from chat.limits import MAX_TAG_CHARS
from chat.transfer.imported import ImportedConversation, Node, messages_of

from . import foreign

REASONING_START, REASONING_END = '<details type="reasoning"', "</details>"
OPENING = re.compile('<details type="(?:reasoning|tool_calls)"')
SUMMARY = re.compile(r"<summary>[^<]{0,200}</summary>")
MAX_TAGS = 50
RATING_OF_NUMBER = {1: True, -1: False}


def matches(value: dict[str, Any]) -> bool:
    return isinstance(_history(value).get("messages"), dict)


def conversation(value: dict[str, Any]) -> ImportedConversation:
    chat, history = _chat(value), _history(value)
    attachments: list[str] = []
    nodes = [
        _node(foreign.text(key), foreign.record(raw), attachments) for key, raw in history["messages"].items()
    ]
    messages, message_of_node = messages_of(nodes)
    models = chat.get("models") if isinstance(chat.get("models"), list) else []
    updated = foreign.moment(value.get("updated_at"))
    return ImportedConversation(
        source="open_webui",
        key=foreign.text(value.get("id")) or foreign.text(chat.get("id")),
        title=foreign.text(value.get("title")) or foreign.text(chat.get("title")),
        messages=messages,
        leaf=message_of_node.get(foreign.text(history.get("currentId")), ""),
        model=foreign.model(models[0]) if models else "",
        system=foreign.text(foreign.record(chat.get("params")).get("system"))
        or foreign.text(chat.get("system")),
        created=foreign.moment(value.get("created_at")) or foreign.moment(chat.get("timestamp")),
        updated=updated,
        pinned_at=updated if value.get("pinned") is True else None,
        archived_at=updated if value.get("archived") is True else None,
        tags=_tags(value),
        attachments=attachments,
    )


def _tags(value: dict[str, Any]) -> list[str]:
    """Return the tags with their white space collapsed, without those that are too long here."""
    found = foreign.record(value.get("meta")).get("tags")
    names = [" ".join(foreign.text(name).split()) for name in found] if isinstance(found, list) else []
    return [name for name in names[:MAX_TAGS] if 0 < len(name) <= MAX_TAG_CHARS]


def _chat(value: dict[str, Any]) -> dict[str, Any]:
    """Return the chat itself: newer exports wrap it in its database row, older ones do not."""
    return value["chat"] if isinstance(value.get("chat"), dict) else value


def _history(value: dict[str, Any]) -> dict[str, Any]:
    return foreign.record(_chat(value).get("history"))


def _node(key: str, raw: dict[str, Any], attachments: list[str]) -> Node:
    files = [{**each, **foreign.record(each.get("file"))} for each in foreign.records(raw.get("files"))]
    attachments += foreign.names(files, "name", "filename", "type")
    role = raw.get("role")
    content, reasoning = foreign.text(raw.get("content")), ""
    if role == "assistant":
        content, reasoning = split_reasoning(content)
        reasoning = reasoning or _thoughts(raw)
        content = content if content.strip() else _error(raw) or content
    rating = foreign.record(raw.get("annotation")).get("rating")
    thumb = RATING_OF_NUMBER.get(rating) if isinstance(rating, int) and role == "assistant" else None
    shown = foreign.message(
        key,
        role,
        content,
        has_files=bool(files),
        reasoning=reasoning,
        model=foreign.model(raw.get("model")) if role == "assistant" else "",
        created=foreign.moment(raw.get("timestamp")),
        feedback=None if thumb is None else (thumb, ""),
    )
    return Node(key, foreign.text(raw.get("parentId")), shown)


def _error(raw: dict[str, Any]) -> str:
    """Return the error of a reply that failed: an object with `content`, or a string; "" if there is none."""
    error = raw.get("error")
    return foreign.text(error.get("content")) if isinstance(error, dict) else foreign.text(error)


def _thoughts(raw: dict[str, Any]) -> str:
    """Return the reasoning of a reply in newer exports, where it is an item of `output`."""
    items = [each for each in foreign.records(raw.get("output")) if each.get("type") == "reasoning"]
    parts = [part for item in items for part in foreign.records(item.get("summary") or item.get("content"))]
    return "\n\n".join(filter(None, (foreign.text(part.get("text")) for part in parts)))


def split_reasoning(content: str) -> tuple[str, str]:
    """Return (text, reasoning) of a reply whose reasoning is quoted in `details` elements.

    The `details` elements of tool calls are left out.
    """
    text, reasoning = [], []
    done = 0  # end of the part that is processed; copying the rest for each element would take quadratic time
    while found := OPENING.search(content, done):
        start = found.start()
        end = content.find(REASONING_END, start)
        if end < 0:
            break
        text.append(content[done:start])
        _, _, body = content[start:end].partition(">")
        lines = html.unescape(SUMMARY.sub("", body, count=1)).strip().splitlines()
        if found[0] == REASONING_START:
            reasoning.append("\n".join(line.removeprefix(">").removeprefix(" ") for line in lines))
        done = end + len(REASONING_END)
        while content.startswith("\n", done):
            done += 1
    text.append(content[done:])
    return "".join(text), "\n\n".join(filter(None, reasoning))
