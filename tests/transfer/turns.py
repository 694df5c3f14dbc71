"""A question and a reply in the shape of another chat's export, around the blocks that a test is about."""

from itertools import pairwise
from typing import Any

from chat.transfer.formats import conversation_of
from chat.transfer.records import ImportedConversation, ImportedMessage
from tests.transfer.samples import BEGUN, ChatFile

GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def chatgpt_message(
    role: str, content: Any, recipient: str = "all", name: str = "", **about: Any
) -> ChatFile:
    kept = content if isinstance(content, dict) else {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": name or None}
    return {"author": author, "content": kept, "recipient": recipient, "metadata": about}


ASK = chatgpt_message("user", "Well?")
DONE = chatgpt_message("assistant", "Done.")


def chatgpt_result(content: Any, name: str = "python", **about: Any) -> Any:
    return chatgpt_message("tool", content, name=name, **about)


def chatgpt_call(text: str, recipient: str, language: str = "unknown") -> Any:
    return chatgpt_message(
        "assistant", {"content_type": "code", "language": language, "text": text}, recipient
    )


def chatgpt(*messages: ChatFile, more: dict[str, tuple[str, ChatFile]] | None = None) -> ImportedConversation:
    """A chain of messages "m0", "m1"; `more`: further ones by their keys, each with its parent's key."""
    keys = [f"m{number}" for number in range(len(messages))]
    parents = {"m0": None} | {below: above for above, below in pairwise(keys)}
    mapping: ChatFile = {
        key: {"parent": parents[key], "message": message, "children": []}
        for key, message in zip(keys, messages, strict=True)
    }
    for key, (parent, message) in (more or {}).items():
        mapping[key] = {"parent": parent, "message": message, "children": []}
    for key, node in mapping.items():
        if node["parent"]:
            mapping[node["parent"]]["children"].append(key)
    sent = {"mapping": mapping, "conversation_id": "c", "create_time": BEGUN, "current_node": keys[-1]}
    return conversation_of(sent)


def claude(*turns: Any, **more: Any) -> ImportedConversation:
    """Turns by their blocks or texts, a question first; a turn can be a whole message."""
    messages = []
    for number, turn in enumerate(turns):
        sender = "assistant" if number % 2 else "human"
        blocks = [{"type": "text", "text": turn}] if isinstance(turn, str) else turn
        whole = turn if isinstance(turn, dict) else {"content": blocks}
        messages.append({"uuid": f"m{number}", "sender": sender, **whole})
    return conversation_of({"uuid": "c", "name": "n", "chat_messages": messages} | more)


def open_webui(reply: Any = "Yes.", question: Any = "Well?", **chat: Any) -> ImportedConversation:
    """A question and a reply, each a text or the fields of a message."""
    fields = [each if isinstance(each, dict) else {"content": each} for each in (question, reply)]
    messages = {
        "q": {"parentId": None, "role": "user", **fields[0]},
        "a": {"parentId": "q", "role": "assistant", **fields[1]},
    }
    return conversation_of({"id": "c", "chat": {"history": {"messages": messages, "currentId": "a"}, **chat}})


def librechat(reply: Any = "Yes.", question: Any = "Well?", **more: Any) -> ImportedConversation:
    """A question and a reply, each a text, a list of parts, or the fields of a message."""

    def fields(each: Any) -> ChatFile:
        return each if isinstance(each, dict) else {"content" if isinstance(each, list) else "text": each}

    messages = [
        {"messageId": "q", "isCreatedByUser": True, **fields(question)},
        {"messageId": "a", "parentMessageId": "q", "isCreatedByUser": False, **fields(reply)},
    ]
    return conversation_of({"conversationId": "c", "messages": messages} | more)


def texts(found: ImportedConversation) -> list[str]:
    return [message.text for message in found.messages]


def last(found: ImportedConversation) -> ImportedMessage:
    return found.messages[-1]


def sources(message: ImportedMessage) -> list[tuple[str, str, str]]:
    return [(each.title, each.url, each.text) for each in message.citations]


def files(message: ImportedMessage) -> list[tuple[str, bytes | None]]:
    return [(each.name, each.content) for each in message.attachments]
