"""The content of a message in all its shapes: text, values, parts, and reasoning under many names."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

_Object = dict[str, Any]
# In the order in which the first one with a text counts: some servers send the same under two names.
REASONING_NAMES = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "thoughts", "thought")
TOKEN_NAMES = REASONING_NAMES[:2]  # in which a number may be a token that arrived unquoted
_TEXT_NAMES = ("text", "content", "thinking", "reasoning", "reasoning_content", "summary", "value")
_THOUGHT_TYPES = ("thinking", "reasoning", "thought", "summary")
_FILE_TYPES = ("image", "audio", "video", "file", "document")
MAX_DEPTH = 8


def text_of(value: object) -> str:
    """Return a value of a text field, as text.

    A token that looks like JSON arrives unquoted and so parsed: `1`, `true`, in JSON mode an object.
    """
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def json_or_text(text: str) -> object:
    """Return what a text of JSON holds; another text as it is."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text


def are_parts(content: object) -> bool:
    """Return True for a list of parts, each with its type, as Mistral and OpenAI write messages.

    Some of them may be plain texts, but not all: that is JSON.
    """
    if not isinstance(content, list):
        return False
    others = [part for part in content if not isinstance(part, str)]
    are_typed = all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in others)
    return are_typed and bool(others or not content)


def split_parts(parts: Iterable[_Object | str]) -> tuple[str, str, str]:
    """Return (text, reasoning, refusal) of a list of parts. A picture or a file is named in the text."""
    text: list[str] = []
    reasoning: list[str] = []
    refusal: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            continue
        kind = part["type"]
        if any(name in kind for name in _THOUGHT_TYPES):
            reasoning.append(thought_of(part))
        elif kind == "refusal":
            refusal.append(thought_of(part.get("refusal")))
        elif any(name in kind for name in _FILE_TYPES):
            text.append(name_of_file(part))
        else:
            text.append(thought_of(part.get("text") or part.get("content")))
    return "".join(text), "".join(reasoning), "".join(refusal)


def reasoning_of(message: Mapping[str, Any]) -> str:
    """Return the reasoning of a message or delta, from the first field that has it."""
    for name in REASONING_NAMES:
        value = message.get(name)
        if isinstance(value, int | float) and name in TOKEN_NAMES:
            return text_of(value)
        if value and (text := thought_of(value)):
            return text
    return thought_of(message.get("reasoning_details"))


def thought_of(value: object, depth: int = 0) -> str:
    """Return the text in a value of reasoning: a text, an object with it, or a list of these."""
    if isinstance(value, str):
        return value
    if depth < MAX_DEPTH and isinstance(value, list):
        return "".join(thought_of(each, depth + 1) for each in value)
    if depth < MAX_DEPTH and isinstance(value, dict):
        return next(
            (text for name in _TEXT_NAMES if (text := thought_of(value.get(name), depth + 1))),
            "",
        )
    return ""


def name_of_file(part: Mapping[str, Any]) -> str:
    """Return a picture or file of a reply as text: its kind, and its address if that is one of the web."""
    kind = next((name for name in _FILE_TYPES if name in part["type"]), "file")
    values = [part.get(name) for name in (f"{kind}_url", kind, "url")]
    addresses = [value.get("url") if isinstance(value, dict) else value for value in values]
    address = next((each for each in addresses if isinstance(each, str) and each.startswith("http")), "")
    return f"[{kind}: {address}]" if address else f"[{kind}]"
