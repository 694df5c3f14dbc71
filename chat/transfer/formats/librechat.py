"""LibreChat's export of one conversation: its messages flat, or as a tree with `children`.

https://github.com/danny-avila/LibreChat/blob/main/client/src/hooks/Conversations/useExportConversation.ts
"""

from typing import Any

from chat.transfer.imported import MAX_NODES, ImportedConversation, Node, messages_of
from chat.transfer.problems import ConversationProblem

from . import foreign

TEXT_TYPES = ("text", "error")
RATING_OF_NAME = {"thumbsUp": True, "thumbsDown": False}


def matches(value: dict[str, Any]) -> bool:
    tree = value.get("messagesTree", value.get("messages"))
    return "conversationId" in value and isinstance(tree, list)


def conversation(value: dict[str, Any]) -> ImportedConversation:
    attachments: list[str] = []
    nodes = [_node(raw, parent, attachments) for raw, parent in _flat(value)]
    messages, _ = messages_of(nodes)
    options = foreign.record(value.get("options"))
    return ImportedConversation(
        source="librechat",
        key=foreign.text(value.get("conversationId")),
        title=foreign.text(value.get("title")),
        messages=messages,
        model=foreign.model(options.get("model")),
        system=foreign.text(options.get("promptPrefix")) or foreign.text(options.get("system")),
        attachments=attachments,
    )


def _flat(value: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return each message with its parent's id: of the message around it, else of `parentMessageId`."""
    found: list[tuple[dict[str, Any], str]] = []
    tree = value["messagesTree"] if "messagesTree" in value else value["messages"]
    pending = [(raw, "") for raw in reversed(foreign.records(tree))]
    while pending:
        raw, parent = pending.pop()
        found.append((raw, parent or foreign.text(raw.get("parentMessageId"))))
        if len(found) > MAX_NODES:
            raise ConversationProblem("many")
        key = foreign.text(raw.get("messageId"))
        pending += [(child, key) for child in reversed(foreign.records(raw.get("children")))]
    return found


def _node(raw: dict[str, Any], parent: str, attachments: list[str]) -> Node:
    key = foreign.text(raw.get("messageId"))
    files = foreign.records(raw.get("files")) + foreign.records(raw.get("attachments"))
    files += [part for part in foreign.records(raw.get("content")) if part.get("type") == "image_file"]
    attachments += foreign.names(files, "filename", "type")
    is_question = raw.get("isCreatedByUser") is True
    text, reasoning = _texts(raw)
    rating = foreign.record(raw.get("feedback")).get("rating")
    thumb = RATING_OF_NAME.get(rating) if isinstance(rating, str) and not is_question else None
    shown = foreign.message(
        key,
        "user" if is_question else "assistant",
        text,
        has_files=bool(files),
        reasoning="" if is_question else reasoning,
        model="" if is_question else foreign.model(raw.get("model")),
        created=foreign.moment(raw.get("createdAt")),
        feedback=None if thumb is None else (thumb, ""),
    )
    return Node(key, parent, shown)


def _texts(raw: dict[str, Any]) -> tuple[str, str]:
    """Return (text, reasoning) from the parts of `content`; if they have no text, from `text`."""
    parts = foreign.records(raw.get("content"))
    texts = [
        _value(part.get("text") or part.get("error")) for part in parts if part.get("type") in TEXT_TYPES
    ]
    thoughts = [_value(part.get("think")) for part in parts if part.get("type") == "think"]
    return (
        "\n\n".join(filter(None, texts)) or foreign.text(raw.get("text")),
        "\n\n".join(filter(None, thoughts)),
    )


def _value(part: Any) -> str:
    return foreign.text(part.get("value")) if isinstance(part, dict) else foreign.text(part)
