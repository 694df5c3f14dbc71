"""Parsing of a request's messages into the shape that every model accepts."""

from typing import Any

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.upstream.pictures import PromptPicture

from .document_parts import SentDocument, document_of, is_document
from .field_checks import Object, get_field, get_objects, plain_text, refuse_choice
from .picture_parts import is_picture, picture_of

REQUEST_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
TEXT_PART_TYPES = ("text", "input_text")
REASONING_KEYS = ("reasoning_content", "reasoning")  # names that servers use for earlier reasoning
MAX_REQUEST_MESSAGES = 2_000
MAX_TOOLS = 128


def messages_of(sent: Object) -> list[Object]:
    """Return the checked `messages`, or `prompt` as a single user message. Raises BadRequest."""
    prompt = get_field(sent, "prompt", (str,))
    if (prompt is None) == (sent.get("messages") is None):
        raise BadRequest(_("Send either “messages” or “prompt”."))
    sent_messages = [{"role": "user", "content": prompt}] if prompt is not None else sent["messages"]
    messages = [
        _message(each) for each in get_objects({"messages": sent_messages}, "messages", MAX_REQUEST_MESSAGES)
    ]
    if not any(
        message["content"].strip() or message.get("tool_calls") or message.get("parts")
        for message in messages
    ):
        raise BadRequest(_("“%(name)s” can’t be empty.") % {"name": "messages"})
    return messages


def check_tool_call_ids(messages: list[Object]) -> None:
    """Raise BadRequest if a tool's result does not name its call, as OpenAI requires."""
    for index, message in enumerate(messages):
        if message["role"] == "tool" and not message.get("tool_call_id"):
            raise BadRequest(_("“%(name)s” is missing.") % {"name": f"messages[{index}].tool_call_id"})


def _message(sent: Object) -> Object:
    """Normalise a message: `content` becomes text, never null, also beside tool calls.

    A message with pictures or documents also has `parts`: see `chat/upstream/pictures.py`.
    """
    role = sent.get("role")
    if role not in REQUEST_ROLES:
        refuse_choice("role", REQUEST_ROLES)
    message: Object = {"role": "system" if role == "developer" else role, **_content(sent)}
    if "parts" in message and role != "user":
        raise BadRequest(_("Only a user’s message can have pictures and files."))
    if role == "assistant":
        message |= _assistant_fields(sent)
    for name in ("tool_call_id", "name"):
        if role in ("tool", "function") and (value := get_field(sent, name, (str,))) is not None:
            message[name] = plain_text(name, value)
    return message


def _assistant_fields(sent: Object) -> Object:
    """Return `tool_calls` and `reasoning` of an assistant message, the latter under Workers AI's name."""
    more: Object = {}
    if sent.get("function_call") is not None:
        raise BadRequest(_("“%(name)s” is not supported. Use “tool_calls”.") % {"name": "function_call"})
    if calls := get_objects(sent, "tool_calls", MAX_TOOLS):
        more["tool_calls"] = [_tool_call(call) for call in calls]
    for name in REASONING_KEYS:
        if thought := get_field(sent, name, (str,)):
            more.setdefault("reasoning", plain_text(name, thought))
    return more


def _tool_call(sent: Object) -> Object:
    """Check a tool call in OpenAI's shape or in Workers AI's flat one, and return it unchanged."""
    called = get_field(sent, "function", (dict,), sent)
    if not isinstance(called.get("name"), str):
        raise BadRequest(_("“%(name)s” must be a string.") % {"name": "tool_calls[].function.name"})
    get_field(called, "arguments", (str, dict))
    return sent


def _content(sent: Object) -> Object:
    content: Any = get_field(sent, "content", (str, list), "")
    if isinstance(content, str):
        return {"content": plain_text("content", content)}
    parts = [_part(part if isinstance(part, dict) else {}) for part in content]
    text = "".join(part for part in parts if isinstance(part, str))
    has_files = any(not isinstance(part, str) for part in parts)
    return {"content": plain_text("content", text)} | ({"parts": parts} if has_files else {})


def _part(sent: Object) -> str | PromptPicture | SentDocument:
    if is_picture(sent):
        return picture_of(sent)
    if is_document(sent):
        return document_of(sent)
    text = sent.get("text")
    if sent.get("type") not in TEXT_PART_TYPES or not isinstance(text, str):
        raise BadRequest(_("“content” must be a string or a list of “text”, “image_url” and “file” parts."))
    return text
