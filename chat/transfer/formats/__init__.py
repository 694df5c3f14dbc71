"""The export formats that can be imported, one module each.

In each module, `matches` returns True for an object of its format, and `conversation` reads it.
"""

from typing import Any

from chat.transfer.imported import ImportedConversation, put_in_order
from chat.transfer.problems import ConversationProblem

from . import chatgpt, claude, librechat, open_webui, own

IMPORT_FORMATS = (own, chatgpt, claude, open_webui, librechat)
FORMAT_NAMES = {
    "chat": "Chat",
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "open_webui": "Open WebUI",
    "librechat": "LibreChat",
}


def conversation_of(value: Any) -> ImportedConversation:
    """Return the conversation that a parsed object describes. Raises ConversationProblem."""
    if isinstance(value, dict):
        for each in IMPORT_FORMATS:
            if each.matches(value):
                return put_in_order(each.conversation(value))
    raise ConversationProblem("invalid")
