"""Messages in the shape that a server reads: fields that one server wants back, and others refuse.

Gemini wants `extra_content`, DeepSeek and Kimi `reasoning_content`, OpenRouter `reasoning_details`. A message
that an API client sent has such fields in `extras`, and its reasoning in `reasoning` too.
"""

import json
from collections.abc import Mapping
from typing import Any

from .catalog import LlmModel

Message = dict[str, Any]
# Fields of a message that are passed on to servers of OpenAI's API, as the client wrote them.
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
PASSED_FIELDS = {*REASONING_FIELDS, "extra_content", "prefix", "partial", "name"}
PASSED_FIELDS |= {"cache_control", "prompt_cache_breakpoint"}
OWN_FIELDS = ("extras", "reasoning")
# Hosts, and providers behind an AI Gateway, that refuse a message with a field of reasoning. All others read
# it or ignore it. https://github.com/BerriAI/litellm/issues/30835
STRICT_HOSTS = ("api.openai.com", ".openai.azure.com", "api.groq.com", "api.mistral.ai", "api.cerebras.ai")
STRICT_PROVIDERS = ("azure-openai", "cerebras", "groq", "mistral")
NO_FIELDS: Mapping[str, Any] = {}


def reads_reasoning(provider: str) -> bool:
    """Return True unless the host, or the provider of a gateway's model, refuses earlier reasoning."""
    return provider not in STRICT_PROVIDERS and not provider.endswith(STRICT_HOSTS)


def for_workers_ai(messages: list[Message], model: LlmModel) -> list[Message]:
    """Return the messages without `extras`, and without earlier reasoning unless the model reads it.

    Reasoning models accept it as `reasoning`. Models that reason inside their text are trained without it.
    """
    removed = ("extras",) if model.reasoning else OWN_FIELDS
    return [_without(removed, message) for message in messages]


def for_openai(messages: list[Message], *, reasoning: bool) -> list[Message]:
    """Return the messages in the shape of OpenAI's API, where arguments of tools are JSON texts.

    `reasoning`: the server takes reasoning of earlier replies.
    """
    return [_for_openai(message, reasoning=reasoning) for message in messages]


def _for_openai(message: Message, *, reasoning: bool) -> Message:
    extras = message.get("extras", NO_FIELDS)
    kept = {name: value for name, value in extras.items() if reasoning or name not in REASONING_FIELDS}
    shaped = {**_without(OWN_FIELDS, message), **kept}
    if calls := message.get("tool_calls"):
        shaped["tool_calls"] = [_call(call) for call in calls]
    return shaped


def _call(call: Message) -> Message:
    """Return a tool call with its name and arguments in `function`. Workers AI's own calls are flat."""
    if call.get("custom") is not None:
        return call
    if "function" not in call:
        flat = {name: call[name] for name in ("name", "arguments") if name in call}
        call = {**_without(tuple(flat), call), "type": "function", "function": flat}
    arguments = call["function"].get("arguments")
    if isinstance(arguments, str):
        return call
    return {**call, "function": {**call["function"], "arguments": json.dumps(arguments, ensure_ascii=False)}}


def _without(names: tuple[str, ...], message: Message) -> Message:
    if not any(name in message for name in names):
        return message
    return {name: value for name, value in message.items() if name not in names}
