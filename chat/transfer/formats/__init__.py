"""The export formats that can be imported, one module each, and what these modules share.

In each of FOREIGN_FORMATS, `matches` returns True for an object of its format, and `conversation` reads it.
All this runs in the child process that reads the file, so it knows no Django.
"""

from hashlib import blake2b
from typing import Any

from chat.transfer import records
from chat.transfer.json_items import MAX_ITEM_DEPTH, Oversized
from chat.transfer.problems import ConversationProblem
from chat.transfer.tree import put_in_order
from chat.wire import strict_json

from . import chatgpt, claude, librechat, open_webui, own
from .cutting import in_parts

FOREIGN_FORMATS = (chatgpt, claude, open_webui, librechat)
Found = (
    records.ImportedConversation | records.ImportedAssistant | records.ImportedPrompt | records.ImportedMemory
)


def object_in(item: bytes | Oversized) -> Found:
    """Return the conversation, assistant, prompt or memory that one JSON object describes.

    Raises ConversationProblem and PromptProblem.
    """
    if isinstance(item, Oversized):
        raise ConversationProblem(item.code)
    try:
        value = strict_json.loads(item, max_depth=MAX_ITEM_DEPTH, allow_halves=True)
    except strict_json.InvalidJSON as error:
        raise ConversationProblem("deep" if str(error) == strict_json.TOO_DEEP else "invalid") from error
    own_format = value.get("format") if isinstance(value, dict) else None
    if own_format == records.PROMPT_FORMAT:
        return own.prompt(value)
    if own_format == records.ASSISTANT_FORMAT:
        return own.assistant(value)
    if own_format == records.MEMORY_FORMAT:
        return own.memory(value)
    conversation = conversation_of(value)
    conversation.key = conversation.key or blake2b(item, digest_size=16).hexdigest()
    return conversation


def conversation_of(value: Any) -> records.ImportedConversation:
    """Return the conversation that a parsed object describes. Raises ConversationProblem."""
    if isinstance(value, dict):
        if value.get("format") == records.CONVERSATION_FORMAT:
            return put_in_order(in_parts(own.conversation(value)))
        for each in FOREIGN_FORMATS:
            if each.matches(value):
                return put_in_order(in_parts(each.conversation(value)))
    raise ConversationProblem("invalid")
