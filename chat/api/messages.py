"""Parsing of a request's messages into the shape that every model accepts."""

from typing import Any

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest

from .field_checks import Object, given, objects, plain_text, refuse_choice

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
TEXT = ("text", "input_text")
REASONING = ("reasoning_content", "reasoning")  # names that servers use for earlier reasoning
MOST_MESSAGES = 2_000
MOST_TOOLS = 128


def messages_of(sent: Object) -> list[Object]:
    """Return the checked `messages`, or `prompt` as a single user message. Raises BadRequest."""
    prompt = given(sent, "prompt", (str,))
    if (prompt is None) == (sent.get("messages") is None):
        raise BadRequest(_("Send either “messages” or “prompt”."))
    asked = [{"role": "user", "content": prompt}] if prompt is not None else sent["messages"]
    messages = [_message(each) for each in objects({"messages": asked}, "messages", MOST_MESSAGES)]
    if not any(message["content"].strip() or message.get("tool_calls") for message in messages):
        raise BadRequest(_("“%(name)s” is empty. Write something.") % {"name": "messages"})
    return messages


def _message(sent: Object) -> Object:
    """Normalise a message: `content` becomes text, never null, also beside tool calls."""
    role = sent.get("role")
    if role not in ROLES:
        refuse_choice("role", ROLES)
    message: Object = {"role": "system" if role == "developer" else role, "content": _content(sent)}
    if role == "assistant":
        message |= _of_the_model(sent)
    for name in ("tool_call_id", "name"):
        if role in ("tool", "function") and (value := given(sent, name, (str,))) is not None:
            message[name] = plain_text(name, value)
    return message


def _of_the_model(sent: Object) -> Object:
    """Return `tool_calls` and `reasoning` of an assistant message, the latter under Workers AI's name."""
    more: Object = {}
    if sent.get("function_call") is not None:
        raise BadRequest(_("“%(name)s” is not supported. Use “tool_calls”.") % {"name": "function_call"})
    if calls := objects(sent, "tool_calls", MOST_TOOLS):
        more["tool_calls"] = [_tool_call(call) for call in calls]
    for name in REASONING:
        if thought := given(sent, name, (str,)):
            more.setdefault("reasoning", plain_text(name, thought))
    return more


def _tool_call(sent: Object) -> Object:
    """Check a tool call in OpenAI's shape or in Workers AI's flat one, and return it unchanged."""
    called = given(sent, "function", (dict,), sent)
    if not isinstance(called.get("name"), str):
        raise BadRequest(_("“%(name)s” must be text.") % {"name": "tool_calls[].function.name"})
    given(called, "arguments", (str, dict))
    return sent


def _content(sent: Object) -> str:
    content: Any = given(sent, "content", (str, list), "")
    if isinstance(content, str):
        return plain_text("content", content)
    parts = [part if isinstance(part, dict) else {} for part in content]
    texts = [part["text"] for part in parts if part.get("type") in TEXT and isinstance(part.get("text"), str)]
    if len(texts) != len(parts):
        raise BadRequest(_("“content” must be text, or a list of parts of the type “text”."))
    return plain_text("content", "".join(texts))
