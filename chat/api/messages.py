"""Messages of a request in the shape that every model accepts."""

import json
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.upstream.history import PASSED_FIELDS
from chat.upstream.pictures import PromptPicture

from .document_parts import SentDocument, document_of, is_document
from .picture_parts import is_picture, picture_of
from .refusals import (
    EMPTY,
    MAX_QUOTED_CHARS,
    MISSING,
    NOT_SUPPORTED,
    InvalidField,
    Object,
    invalid,
    unsupported,
)

TOOL_ROLES = ("tool", "function")
REASONING_KEYS = ("reasoning_content", "reasoning")  # names that servers use for earlier reasoning
TEXT_KEYS = ("text", "refusal")  # of the parts that are text
NO_FILES = gettext_noop("“%(name)s” is not supported: this site takes no files.")
NO_ARGUMENTS = "{}"
# By role, what would be lost: pictures in Ollama's own shape, and a spoken reply.
LOST_FIELDS = {"user": "images", "assistant": "audio"}
# Fields that are read here, and those of earlier replies, of pages' messages and of caches, which clients
# send back though no model reads them.
READ_FIELDS = {"role", "content", "refusal", "tool_calls", "tool_call_id", "function_call"}
REPLAYED_FIELDS = {
    "annotations", "citations", "created", "createdAt", "created_at", "finish_reason", "id", "images",
    "index", "logprobs", "metadata", "model", "object", "parsed", "phase", "provider_specific_fields",
    "search_results", "status", "stop_reason", "thinking", "timestamp", "token_ids", "type", "usage",
}  # fmt: skip
# Those of `PASSED_FIELDS` that other servers lose without harm: they do not change what is asked for.
HINTS = PASSED_FIELDS - {"prefix", "partial"}


def messages_of(sent: Object, *, takes_all: bool) -> list[Object]:
    """Return `messages`, or `prompt` as a single user message. `sent` fits the struct of a call.

    `takes_all`: the model's server gets the fields that are not known here. They are refused for others.
    Raises InvalidField.
    """
    prompt, sent_messages = sent.get("prompt"), sent.get("messages")
    if (prompt is None) == (sent_messages is None):
        code = "missing_required_parameter" if prompt is None else "invalid_value"
        raise InvalidField(_("Send either “messages” or “prompt”."), "messages", code)
    sent_messages = sent_messages or [{"role": "user", "content": prompt}]
    messages = []
    for index, each in enumerate(sent_messages):
        where = f"messages[{index}]"
        messages.append(_message(each, where, takes_all=takes_all))
    if not any(
        message["content"].strip() or message.get("tool_calls") or message.get("parts")
        for message in messages
    ):
        raise invalid(EMPTY, "messages")
    return messages


def check_tool_call_ids(messages: list[Object]) -> None:
    """Raise InvalidField if a tool's result does not name its call, as OpenAI requires."""
    for index, message in enumerate(messages):
        if message["role"] == "tool" and not message.get("tool_call_id"):
            raise invalid(MISSING, f"messages[{index}].tool_call_id", "missing_required_parameter")


def _unknown_fields(sent: Object, where: str, *, takes_all: bool) -> Object:
    """Return the fields that are not known here, if the server takes all. Raises InvalidField otherwise."""
    known = READ_FIELDS | REPLAYED_FIELDS | (PASSED_FIELDS if takes_all else HINTS)
    if sent.keys() <= known:
        return {}
    unknown = {name: value for name, value in sent.items() if name not in known and value is not None}
    if not takes_all and (lost := next((name for name, value in unknown.items() if value), None)):
        raise invalid(NOT_SUPPORTED, f"{where}.{lost[:MAX_QUOTED_CHARS]}", "unknown_parameter")
    return unknown


def _message(sent: Object, where: str, *, takes_all: bool) -> Object:
    """Normalise a message: `content` becomes text, never null, also beside tool calls.

    A message with pictures or documents also has `parts`: see `chat/upstream/pictures.py`. `extras` are
    fields that some servers read: see `chat/upstream/history.py`.
    """
    role = sent["role"]
    message: Object = {"role": "system" if role == "developer" else role, **_content(sent, where)}
    if "parts" in message and role != "user":
        raise InvalidField(_("Only a user’s message can have pictures and files."), f"{where}.content")
    if sent.get("function_call") is not None:
        raise unsupported(f"{where}.function_call", _("Use “tool_calls”."))
    if sent.get(lost := LOST_FIELDS.get(role, "")):
        raise unsupported(f"{where}.{lost}")
    if role == "assistant":
        message |= _assistant_fields(sent, where, takes_all=takes_all)
    extras = _unknown_fields(sent, where, takes_all=takes_all)
    extras |= {name: sent[name] for name in PASSED_FIELDS & sent.keys() if sent[name]}
    for name in ("tool_call_id", "name"):
        if role in TOOL_ROLES and sent.get(name) is not None:
            message[name] = sent[name]
            extras.pop(name, None)
    return message | ({"extras": extras} if extras else {})


def _assistant_fields(sent: Object, where: str, *, takes_all: bool) -> Object:
    """Return `tool_calls` and `reasoning` of an assistant message, the latter under Workers AI's name."""
    more: Object = {}
    if calls := sent.get("tool_calls"):
        more["tool_calls"] = [
            _tool_call(call, f"{where}.tool_calls[{index}]", takes_all=takes_all)
            for index, call in enumerate(calls)
        ]
    if thought := next((sent[name] for name in REASONING_KEYS if sent.get(name)), None):
        more["reasoning"] = thought
    return more


def _tool_call(sent: Object, where: str, *, takes_all: bool) -> Object:
    """Return a call in its own shape, OpenAI's or Workers AI's flat one, with arguments that can be parsed.

    Calls of custom tools, which have no such arguments, are for the servers of OpenAI's API alone.
    Programs replay calls without arguments, and calls whose arguments were cut off; servers fail on both.
    """
    if sent.get("custom") is not None:
        if not takes_all:
            raise unsupported(f"{where}.custom")
        return sent
    called = sent.get("function") or sent
    if called.get("name") is None:
        raise invalid(MISSING, f"{where}.function.name", "missing_required_parameter")
    if _is_json(called.get("arguments")):
        return sent
    mended = {**called, "arguments": NO_ARGUMENTS}
    return {**sent, "function": mended} if called is not sent else mended


def _is_json(arguments: Any) -> bool:
    if isinstance(arguments, dict):
        return True
    try:
        return json.loads(arguments) is not None
    except (TypeError, ValueError, RecursionError):
        return False


def _content(sent: Object, where: str) -> Object:
    content: Any = sent.get("content")
    if not isinstance(content, list):
        return {"content": content or (sent.get("refusal") or "")}
    parts = [_part(part, f"{where}.content[{index}]") for index, part in enumerate(content)]
    text = "".join(part for part in parts if isinstance(part, str)) or (sent.get("refusal") or "")
    has_files = any(not isinstance(part, str) for part in parts)
    return {"content": text} | ({"parts": parts} if has_files else {})


def _part(sent: Object, where: str) -> str | PromptPicture | SentDocument:
    for name in TEXT_KEYS:
        if name in sent:
            return str(sent[name])
    if is_picture(sent):
        return picture_of(sent, where)
    if is_document(sent):
        return document_of(sent, where)
    raise invalid(NO_FILES, f"{where}.type")
