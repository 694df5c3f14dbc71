"""Messages of a request in the shape that every model accepts."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from chat.upstream.chat_request import PASSED_FIELDS
from chat.upstream.pictures import ClientPart, PromptPicture, files_of
from chat.wire.content import thought_of

from .document_parts import DOCUMENT_PART_TYPES, SentDocument, document_of, documents_of, marked_text
from .passed_fields import MESSAGE_HINTS, unknown_fields
from .picture_parts import DATA_URL, PICTURE_PART_TYPES, checked_address, picture_of
from .refusals import EMPTY, MAX_QUOTED_CHARS, MISSING, NO_CHOICE, InvalidField, Object, invalid, unsupported

TOOL_ROLES = ("tool", "function")
REASONING_KEYS = ("reasoning_content", "reasoning")  # names that servers use for earlier reasoning
# Fields that are read here, of all roles and of one: those of another role are no fields of a message. The
# pictures of a reply are replayed, while a user's are in Ollama's own shape.
READ_FIELDS = {"role", "content", "refusal", "function_call"} | MESSAGE_HINTS
ROLE_FIELDS = {
    "assistant": {"tool_calls", "images"},
    **{role: {"tool_call_id", "name"} for role in TOOL_ROLES},
}
NO_ARGUMENTS = "{}"
BACKSLASH = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
CUT_WORD = re.compile(r"[\w.+-]{0,20}\s*")  # of a number or a literal at the end
TEXT_FIELDS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
MEDIA_PART_TYPES = ("input_audio", "audio_url", "video_url")
# Of replies in the shapes of Anthropic's, Mistral's and OpenAI's other API.
THOUGHT_PART_TYPES = ("thinking", "redacted_thinking", "reasoning")
REPLY_PART_TYPES = (*THOUGHT_PART_TYPES, "tool_use")
SIGNED_FIELDS = {"signature", "data"}  # of thoughts that Anthropic wants back as they were
ADDRESS = re.compile(r"\s*[\w+.-]+://")
NO_FILES = gettext_noop("“%(name)s” is not supported: this site takes no files.")


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
    fields that some servers read: see `chat/upstream/chat_request.py`.
    """
    role, sent = sent["role"], with_own_fields(sent)
    content = content_of(sent, where, takes_all=takes_all)
    message: Object = {"role": "system" if role == "developer" else role, **content}
    if role != "user" and _has_files(message):
        words = _("Only messages with the role “user” can have pictures and files.")
        raise InvalidField(words, f"{where}.content")
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


def mended(arguments: object) -> object:
    """Return arguments that can be parsed, an object as it is.

    Servers fail on what is no JSON. Control characters are escaped, and backslashes that escape nothing.
    Calls without arguments, and with arguments that were cut off, have none. What else cannot be read stands
    under `raw`: it was handed out like this, and its model sees what it wrote.
    """
    if isinstance(arguments, dict):
        return arguments
    if not isinstance(arguments, str) or not arguments.strip():
        return NO_ARGUMENTS
    escaped = BACKSLASH.sub(lambda found: found[0] if found[1] else r"\\", arguments)
    for text in (arguments, escaped):
        try:
            value = json.loads(text, strict=False)
        except RecursionError:
            return NO_ARGUMENTS
        except ValueError as error:
            failure = error
            continue
        if value is None:
            return NO_ARGUMENTS
        return arguments if _is_strict(arguments) else json.dumps(value, ensure_ascii=False)
    if _is_cut(failure):
        return NO_ARGUMENTS
    return json.dumps({"raw": arguments}, ensure_ascii=False)


def _is_strict(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_cut(error: ValueError) -> bool:
    """Return True if the text ends where its JSON goes on."""
    if not isinstance(error, json.JSONDecodeError):
        return False  # a number with too many digits
    rest = error.doc[error.pos :]
    return "Unterminated" in error.msg or (error.pos > 0 and CUT_WORD.fullmatch(rest) is not None)


def with_own_fields(sent: Object) -> Object:
    """Return an assistant's message with its thoughts and uses of tools in the fields of OpenAI's API too.

    Clients of other APIs replay them as parts. Thoughts get the two names that LiteLLM gives them. A call may
    already be in both places, as LangChain keeps it.
    """
    content = sent.get("content")
    if sent["role"] != "assistant" or not isinstance(content, list):
        return sent
    parts = [part for part in content if part["type"] in REPLY_PART_TYPES]
    thoughts = [part for part in parts if part["type"] != "tool_use"]
    calls = list(sent.get("tool_calls") or ())
    known = {call.get("id") for call in calls}
    calls += [_call(part) for part in parts if part["type"] == "tool_use" and part.get("id") not in known]
    text = "" if sent.get("reasoning") else "\n\n".join(filter(None, map(thought_of, thoughts)))
    signed = [part for part in thoughts if SIGNED_FIELDS & part.keys()]
    found = {"reasoning_content": text, "thinking_blocks": signed}
    own = {name: value for name, value in found.items() if value and not sent.get(name)}
    return {**sent, "tool_calls": calls, **own}


def _call(part: Object) -> Object:
    own = {name: value for name, value in part.items() if name not in ("type", "name", "input")}
    function = {"name": part["name"], "arguments": part.get("input") or {}}
    return {**own, "type": "function", "function": function}


def content_of(sent: Object, where: str, *, takes_all: bool) -> Object:
    """Return `content`, the text of a message, and `parts` if these are more than texts."""
    sent_parts: Any = sent.get("content")
    if not isinstance(sent_parts, list):
        return {"content": sent_parts or sent.get("refusal") or ""}
    is_reply = sent["role"] == "assistant"
    parts = [
        _part(part, f"{where}.content[{index}]", takes_all=takes_all)
        for index, part in enumerate(sent_parts)
        if not (is_reply and part["type"] in REPLY_PART_TYPES)
    ]
    text = "".join(part if isinstance(part, str) else getattr(part, "text", "") for part in parts)
    content = {"content": text or sent.get("refusal") or ""}
    return content if all(isinstance(part, str) for part in parts) else content | {"parts": parts}


def _part(sent: Object, where: str, *, takes_all: bool) -> str | PromptPicture | SentDocument | ClientPart:
    kind = sent["type"]
    if name := TEXT_FIELDS.get(kind):
        return marked_text(sent[name], unknown_fields(sent, {name}, where, takes_all=takes_all))
    if not settings.ATTACHMENTS:
        raise invalid(NO_FILES, f"{where}.type")
    if kind in PICTURE_PART_TYPES:
        return picture_of(sent, where, takes_all=takes_all)
    if kind in DOCUMENT_PART_TYPES:
        # A file without its content, by an id or an address, is there for the model's server alone.
        content = sent.get("file", sent).get("file_data") or ""
        if DATA_URL.match(content) or not takes_all:
            return document_of(sent, where, takes_all=takes_all)
    elif not (takes_all and kind in MEDIA_PART_TYPES):
        raise invalid(NO_CHOICE, f"{where}.type", value=kind)
    for name, address in _addresses(sent, where):
        if address and not DATA_URL.match(address):
            checked_address(address, name[:MAX_QUOTED_CHARS])
    return ClientPart({name: value for name, value in sent.items() if value is not None})


def _addresses(part: Object, where: str) -> Iterator[tuple[str, str]]:
    """Yield (path, address) of all addresses in a part."""
    waiting: list[tuple[str, Any]] = [(where, part)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{name}", each) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", each) for index, each in enumerate(value)]
        elif isinstance(value, str) and (path.endswith("url") or ADDRESS.match(value)):
            yield path, value
