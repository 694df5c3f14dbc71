"""Files of other chats, small and in the shapes of their own exports."""

from typing import Any

ChatFile = dict[str, Any]
BEGUN = 1_700_000_000


def chatgpt(**more: Any) -> ChatFile:
    """Custom instructions, a question with a picture, a tool call, thoughts, and two replies."""

    def node(key: str, parent: str | None, message: Any = None) -> tuple[str, ChatFile]:
        return key, {"id": key, "parent": parent, "message": message, "children": []}

    def chat_message(role: str, text: Any, after: int, **metadata: Any) -> ChatFile:
        content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
        return {
            "author": {"role": role},
            "create_time": BEGUN + after,
            "content": content,
            "recipient": metadata.pop("recipient", "all"),
            "metadata": metadata,
        }

    context = {
        "content_type": "user_editable_context",
        "user_profile": "I am Ann.",
        "user_instructions": "Be brief.",
    }
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    question = {"content_type": "multimodal_text", "parts": [picture, "What is this?"]}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "It looks like a cat."}]}
    return {
        "title": "A picture",
        "create_time": BEGUN,
        "update_time": BEGUN + 60,
        "current_node": "a2",
        "conversation_id": "c-1",
        "default_model_slug": "gpt-5",
        "mapping": dict(
            [
                node("root", None),
                node("sys", "root", chat_message("system", "", 0, is_visually_hidden_from_conversation=True)),
                node(
                    "ctx", "sys", chat_message("user", context, 0, is_visually_hidden_from_conversation=True)
                ),
                node("q", "ctx", chat_message("user", question, 1, attachments=[{"name": "cat.png"}])),
                node("a1", "q", chat_message("assistant", "A dog.", 2, model_slug="gpt-4o")),
                node("call", "q", chat_message("assistant", "search()", 3, recipient="web")),
                node("tool", "call", chat_message("tool", "found", 4)),
                node("th", "tool", chat_message("assistant", thoughts, 5)),
                node("a2", "th", chat_message("assistant", "A cat.", 6, model_slug="gpt-5")),
            ]
        ),
    } | more


def claude(**more: Any) -> ChatFile:
    return {
        "uuid": "c-2",
        "name": "A poem",
        "created_at": "2024-05-01T10:00:00.000000Z",
        "updated_at": "2024-05-01T10:05:00.000000Z",
        "account": {"uuid": "x"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Write a poem",
                "content": [{"type": "text", "text": "Write a poem"}],
                "sender": "human",
                "created_at": "2024-05-01T10:00:01.000000Z",
                "attachments": [{"file_name": "notes.txt", "extracted_content": ""}],
                "files": [{"file_name": "notes.txt"}],
            },
            {
                "uuid": "m2",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "Rhyme?"},
                    {"type": "tool_use", "name": "x", "input": {}},
                    {"type": "text", "text": "Roses"},
                    {"type": "text", "text": "are red"},
                ],
                "sender": "assistant",
                "created_at": "2024-05-01T10:00:02.000000Z",
                "attachments": [],
                "files": [],
            },
        ],
    } | more


def open_webui(**more: Any) -> ChatFile:
    reply = (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n'
        "&gt; Let me see &lt;this&gt;.\n</details>\n255"
    )
    messages = [
        {"id": "q", "parentId": None, "role": "user", "content": "15 * 17?", "files": [{"name": "sum.pdf"}]},
        {"id": "a1", "parentId": "q", "role": "assistant", "content": "254", "model": "llama3"},
        {"id": "a2", "parentId": "q", "role": "assistant", "content": reply, "model": "deepseek-r1"},
    ]
    for after, message in enumerate(messages):
        message |= {"timestamp": BEGUN + min(after, 1), "childrenIds": []}
    messages[1]["annotation"] = {"rating": -1}
    return {
        "id": "c-3",
        "title": "Sums",
        "chat": {
            "title": "Sums",
            "models": ["deepseek-r1"],
            "params": {"system": "You can count."},
            "history": {"currentId": "a2", "messages": {message["id"]: message for message in messages}},
        },
        "created_at": BEGUN,
        "updated_at": BEGUN + 10,
        "archived": False,
        "pinned": True,
    } | more


def librechat(**more: Any) -> ChatFile:
    nobody = "00000000-0000-0000-0000-000000000000"
    reply = {
        "messageId": "b",
        "parentMessageId": "a",
        "sender": "GPT",
        "isCreatedByUser": False,
        "model": "gpt-4o",
        "text": "",
        "content": [{"type": "think", "think": "Hm."}, {"type": "text", "text": {"value": "Hello!"}}],
        "createdAt": "2024-06-01T10:00:01.000Z",
        "feedback": {"rating": "thumbsUp"},
        "children": [],
    }
    question = {
        "messageId": "a",
        "parentMessageId": nobody,
        "sender": "User",
        "isCreatedByUser": True,
        "text": "Hi",
        "createdAt": "2024-06-01T10:00:00.000Z",
        "files": [{"filename": "x.png"}],
        "children": [reply],
    }
    return {
        "conversationId": "c-4",
        "endpoint": "openAI",
        "title": "Hi",
        "exportAt": "10:00",
        "branches": True,
        "recursive": True,
        "options": {"model": "gpt-4o", "promptPrefix": "Be kind."},
        "messages": [question],
    } | more
