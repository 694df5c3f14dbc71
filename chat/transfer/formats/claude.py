"""Claude's export: `conversations.json`, a list of conversations with their `chat_messages`.

Anthropic does not document it. This reader was checked against excerpts of a public reader of the export; no
real export was at hand:
https://github.com/jmorenobl/claude-conversation-extractor
"""

from typing import Any

from chat.transfer.imported import ImportedConversation, Node, messages_of

from . import foreign

FILE_KEYS = ("files", "files_v2", "attachments")
ARTIFACTS = "artifacts"  # the tool that writes documents beside the conversation
CODE_TYPE = "application/vnd.ant.code"


def matches(value: dict[str, Any]) -> bool:
    return isinstance(value.get("chat_messages"), list)


def conversation(value: dict[str, Any]) -> ImportedConversation:
    attachments: list[str] = []
    nodes: list[Node] = []
    for place, raw in enumerate(foreign.records(value["chat_messages"])):
        key = foreign.text(raw.get("uuid")) or str(place)
        before = nodes[-1].key if nodes else ""
        # Older exports have no parents: each message follows the one before.
        parent = foreign.text(raw.get("parent_message_uuid")) if "parent_message_uuid" in raw else before
        nodes.append(_node(key, parent, raw, attachments))
    messages, message_of_node = messages_of(nodes)
    current = foreign.text(value.get("current_leaf_message_uuid")) or (nodes[-1].key if nodes else "")
    return ImportedConversation(
        source="claude",
        key=foreign.text(value.get("uuid")),
        title=foreign.text(value.get("name")),
        messages=messages,
        leaf=message_of_node.get(current, ""),
        model=foreign.model(value.get("model")),
        created=foreign.moment(value.get("created_at")),
        updated=foreign.moment(value.get("updated_at")),
        attachments=attachments,
    )


def _node(key: str, parent: str, raw: dict[str, Any], attachments: list[str]) -> Node:
    blocks = foreign.records(raw.get("content"))
    files = list(dict.fromkeys(_names(raw)))
    files += [foreign.UNNAMED_ATTACHMENT for block in blocks if block.get("type") in ("image", "document")]
    attachments += files
    texts = [_block_text(block) for block in blocks]
    old = foreign.text(raw.get("text"))  # older exports have no blocks
    files_sent = foreign.records(raw.get("attachments"))
    pasted = [foreign.text(each.get("extracted_content")) for each in files_sent if _is_paste(each)]
    thoughts = [foreign.text(block.get("thinking")) for block in blocks if block.get("type") == "thinking"]
    shown = foreign.message(
        key,
        raw.get("sender"),
        "\n\n".join(filter(None, [*(texts if any(texts) else [old]), *pasted])),
        has_files=bool(files),
        reasoning="\n\n".join(filter(None, thoughts)) if raw.get("sender") == "assistant" else "",
        created=foreign.moment(raw.get("created_at")),
    )
    return Node(key, parent, shown)


def _block_text(block: dict[str, Any]) -> str:
    """Return the text of a block: of a text block, or of a call of the artifacts tool."""
    if block.get("type") == "text":
        return foreign.text(block.get("text"))
    if block.get("type") != "tool_use" or block.get("name") != ARTIFACTS:
        return ""
    sent = foreign.record(block.get("input"))
    text = foreign.text(sent.get("content"))  # missing in an update, which replaces only a part
    if not text or sent.get("type") == "text/markdown":
        return text
    kind = foreign.text(sent.get("type"))
    language = (
        foreign.text(sent.get("language"))
        if kind == CODE_TYPE
        else kind.rpartition("/")[2].rpartition(".")[2]
    )
    return foreign.code_block(language, text)


def _is_paste(attachment: dict[str, Any]) -> bool:
    """Return True for a long pasted text, which Claude stores as an attachment without a name."""
    return not attachment.get("file_name") and bool(attachment.get("extracted_content"))


def _names(raw: dict[str, Any]) -> list[str]:
    """Return the names of a message's files, which are in up to three lists."""
    files = [each for field in FILE_KEYS for each in foreign.records(raw.get(field)) if not _is_paste(each)]
    return foreign.names(files, "file_name")
