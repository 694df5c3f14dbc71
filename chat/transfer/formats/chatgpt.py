"""ChatGPT's export: `conversations.json`, a list of trees, each a `mapping` from ids to nodes.

OpenAI does not document it. This reader was checked against excerpts of public readers of the export; no real
export was at hand:
https://github.com/pionxzh/chatgpt-exporter, https://github.com/mitkury/chatgpt-export-parser
"""

import json
import re
from typing import Any

from chat.transfer.imported import ImportedConversation, Node, messages_of

from . import foreign

SHOWN_RECIPIENTS = ("", "all")  # recipients of messages that are shown; other recipients are tools
CANVAS = "canmore.create_textdoc"  # recipient of a document in the canvas, beside the conversation
CANVAS_CODE = "code/"  # prefix of the language in the type of such a document
# Markers of things that ChatGPT's page draws in a reply, such as sources: private-use characters, alone or in
# pairs around a name.
CITATION_MARK = re.compile("\ue200[^\ue200\ue201]*\ue201|[\ue200-\ue20f]")
CONTEXT = ("user_profile", "user_instructions")  # fields of the custom instructions


def matches(value: dict[str, Any]) -> bool:
    return isinstance(value.get("mapping"), dict)


def conversation(value: dict[str, Any]) -> ImportedConversation:
    attachments: list[str] = []
    system: list[str] = []
    nodes = []
    for key, sent in value["mapping"].items():
        node = foreign.record(sent)
        raw = foreign.record(node.get("message"))
        system += _instructions(raw)
        nodes.append(_node(foreign.text(key), foreign.text(node.get("parent")), raw, attachments))
    messages, message_of_node = messages_of(nodes)
    return ImportedConversation(
        source="chatgpt",
        key=foreign.text(value.get("conversation_id")) or foreign.text(value.get("id")),
        title=foreign.text(value.get("title")),
        messages=messages,
        leaf=message_of_node.get(foreign.text(value.get("current_node")), ""),
        model=foreign.model(value.get("default_model_slug")),
        system="\n\n".join(dict.fromkeys(system)),
        created=foreign.moment(value.get("create_time")),
        updated=foreign.moment(value.get("update_time")),
        archived_at=foreign.moment(value.get("update_time")) if value.get("is_archived") is True else None,
        attachments=attachments,
    )


def _node(key: str, parent: str, raw: dict[str, Any], attachments: list[str]) -> Node:
    """Return a node, without a message for what ChatGPT does not show either: hidden messages and tools."""
    content, about = foreign.record(raw.get("content")), foreign.record(raw.get("metadata"))
    role = foreign.record(raw.get("author")).get("role")
    if content.get("content_type") == "thoughts":
        raw_thoughts = foreign.records(content.get("thoughts"))
        thoughts = [foreign.text(each.get("content") or each.get("summary")) for each in raw_thoughts]
        return Node(key, parent, reasoning="\n\n".join(filter(None, thoughts)))
    parts = _parts(content)
    files = foreign.names(foreign.records(about.get("attachments")), "name")
    # Uploaded images are in the metadata and in the parts, generated ones only in the parts.
    pictures = [part for part in foreign.records(parts) if "asset_pointer" in part]
    files += foreign.names(pictures[len(files) :], "name", "content_type")
    attachments += files
    hidden = about.get("is_visually_hidden_from_conversation") is True
    recipient = foreign.text(raw.get("recipient"))
    if hidden or recipient not in (*SHOWN_RECIPIENTS, CANVAS):
        return Node(key, parent)
    text = _text(content, parts) if recipient in SHOWN_RECIPIENTS else _document(content, parts)
    if role == "assistant":
        text = _with_sources(text, foreign.records(about.get("content_references")))
    shown = foreign.message(
        key,
        role,
        text,
        has_files=bool(files),
        model=foreign.model(about.get("model_slug")) if role == "assistant" else "",
        created=foreign.moment(raw.get("create_time")),
    )
    return Node(key, parent, shown)


def _text(content: dict[str, Any], parts: list[Any]) -> str:
    kind = content.get("content_type")
    if kind == "code":
        language = foreign.text(content.get("language"))
        return foreign.code_block(
            "" if language == "unknown" else language, foreign.text(content.get("text"))
        )
    if kind not in ("text", "multimodal_text"):
        return ""
    # A spoken part is an object with its transcription.
    return "\n\n".join(filter(None, (_part(part) for part in parts)))


def _document(content: dict[str, Any], parts: list[Any]) -> str:
    """Return the document that a tool call of the canvas creates; "" if the call is not as expected."""
    sent = foreign.text(content.get("text")) or _text(content, parts)
    try:
        raw = foreign.record(json.loads(sent))
    except (ValueError, RecursionError):
        return ""
    text, kind = foreign.text(raw.get("content")), foreign.text(raw.get("type"))
    if not kind.startswith(CANVAS_CODE):
        return text
    return foreign.code_block(kind.removeprefix(CANVAS_CODE), text)


def _with_sources(text: str, references: list[dict[str, Any]]) -> str:
    """Replace the markers by their Markdown alternatives, such as a link to a source; remove the others."""
    known = {foreign.text(each.get("matched_text")): foreign.text(each.get("alt")) for each in references}
    return CITATION_MARK.sub(lambda mark: known.get(mark[0], ""), text)


def _parts(content: dict[str, Any]) -> list[Any]:
    parts = content.get("parts")
    return parts if isinstance(parts, list) else []


def _part(part: Any) -> str:
    return foreign.text(part.get("text")) if isinstance(part, dict) else foreign.text(part)


def _instructions(raw: dict[str, Any]) -> list[str]:
    """Return the parts of the system prompt or of the custom instructions; [] for any other message."""
    content = foreign.record(raw.get("content"))
    if content.get("content_type") == "user_editable_context":
        found = [foreign.text(content.get(name)) for name in CONTEXT]
    elif foreign.record(raw.get("author")).get("role") == "system":
        found = [foreign.text(part) for part in _parts(content)]
    else:
        found = []
    return [each for each in found if each.strip()]
