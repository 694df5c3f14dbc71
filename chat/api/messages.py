"""Messages of a request in the shape that every model accepts."""

from django.utils.translation import gettext as _

from chat.upstream.history import PASSED_FIELDS
from chat.upstream.pictures import files_of

from .call_arguments import mended
from .content_parts import content_of, with_own_fields
from .document_parts import documents_of
from .passed_fields import MESSAGE_HINTS, unknown_fields
from .refusals import EMPTY, MISSING, InvalidField, Object, invalid, unsupported

TOOL_ROLES = ("tool", "function")
REASONING_KEYS = ("reasoning_content", "reasoning")  # names that servers use for earlier reasoning
# Fields that are read here, of all roles and of one: those of another role are no fields of a message. The
# pictures of a reply are replayed, while a user's are in Ollama's own shape.
READ_FIELDS = {"role", "content", "refusal", "function_call"} | MESSAGE_HINTS
ROLE_FIELDS = {
    "assistant": {"tool_calls", "images"},
    **{role: {"tool_call_id", "name"} for role in TOOL_ROLES},
}


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
    messages = [
        _message(each, f"messages[{index}]", takes_all=takes_all) for index, each in enumerate(sent_messages)
    ]
    if not any(each["content"].strip() or each.get("tool_calls") or _has_files(each) for each in messages):
        raise invalid(EMPTY, "messages")
    return messages


def check_tool_call_ids(messages: list[Object]) -> None:
    """Raise InvalidField if a tool's result does not name its call, as OpenAI requires."""
    for index, message in enumerate(messages):
        if message["role"] == "tool" and not message.get("tool_call_id"):
            raise invalid(MISSING, f"messages[{index}].tool_call_id", "missing_required_parameter")


def _message(sent: Object, where: str, *, takes_all: bool) -> Object:
    """Normalise a message: `content` becomes text, never null, also beside tool calls.

    A message with pictures or documents also has `parts`: see `chat/upstream/pictures.py`. `extras` are
    fields that some servers read: see `chat/upstream/history.py`.
    """
    role, sent = sent["role"], with_own_fields(sent)
    content = content_of(sent, where, takes_all=takes_all)
    message: Object = {"role": "system" if role == "developer" else role, **content}
    if role != "user" and _has_files(message):
        raise InvalidField(_("Only a user’s message can have pictures and files."), f"{where}.content")
    if sent.get("function_call") is not None:
        raise unsupported(f"{where}.function_call", _("Use “tool_calls”."))
    if role == "assistant":
        message |= _assistant_fields(sent, where, takes_all=takes_all)
    read = READ_FIELDS | ROLE_FIELDS.get(role, set())
    extras = unknown_fields(sent, read, where, takes_all=takes_all)
    extras |= {name: sent[name] for name in PASSED_FIELDS & sent.keys() if sent[name]}
    for name in ("tool_call_id", "name"):
        if role in TOOL_ROLES and sent.get(name) is not None:
            message[name] = sent[name]
            extras.pop(name, None)
    return message | ({"extras": extras} if extras else {})


def _has_files(message: Object) -> bool:
    return any(files_of(message)) or bool(documents_of([message]))


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
    """
    if sent.get("custom") is not None:
        if not takes_all:
            raise unsupported(f"{where}.custom")
        return sent
    called = sent.get("function") or sent
    if called.get("name") is None:
        raise invalid(MISSING, f"{where}.function.name", "missing_required_parameter")
    readable = {**called, "arguments": mended(called.get("arguments"))}
    return {**sent, "function": readable} if called is not sent else readable
