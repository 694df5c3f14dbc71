"""The content of a message: its text, and its parts where these are more than texts."""

import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop

from chat.upstream.pictures import PromptPicture, SentPart
from chat.wire.content import thought_of

from . import data_urls
from .document_parts import DOCUMENT_PART_TYPES, SentDocument, document_of, marked_text
from .passed_fields import unknown_fields
from .picture_parts import PICTURE_PART_TYPES, checked_address, picture_of
from .refusals import MAX_QUOTED_CHARS, NO_CHOICE, Object, invalid

TEXT_FIELDS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
MEDIA_PART_TYPES = ("input_audio", "audio_url", "video_url")
# Of replies in the shapes of Anthropic's, Mistral's and OpenAI's other API.
THOUGHT_PART_TYPES = ("thinking", "redacted_thinking", "reasoning")
REPLY_PART_TYPES = (*THOUGHT_PART_TYPES, "tool_use")
SIGNED_FIELDS = {"signature", "data"}  # of thoughts that Anthropic wants back as they were
ADDRESS = re.compile(r"\s*[\w+.-]+://")
NO_FILES = gettext_noop("“%(name)s” is not supported: this site takes no files.")


def with_own_fields(sent: Object) -> Object:
    """Return an assistant's message with its thoughts and uses of tools in the fields of OpenAI's API too.

    Clients of other APIs replay them as parts. Thoughts get the two names that LiteLLM gives them. A call may
    already be in both places, as LangChain keeps it.
    """
    parts = [part for part in _parts(sent) if part["type"] in REPLY_PART_TYPES]
    if sent["role"] != "assistant" or not parts:
        return sent
    thoughts = [part for part in parts if part["type"] != "tool_use"]
    calls = list(sent.get("tool_calls") or ())
    known = {call.get("id") for call in calls}
    calls += [_call(part) for part in parts if part["type"] == "tool_use" and part.get("id") not in known]
    found = {
        "reasoning_content": ""
        if sent.get("reasoning")
        else "\n\n".join(filter(None, map(thought_of, thoughts))),
        "thinking_blocks": [part for part in thoughts if SIGNED_FIELDS & part.keys()],
    }
    return {**sent, "tool_calls": calls} | {
        name: new for name, new in found.items() if new and not sent.get(name)
    }


def _call(part: Object) -> Object:
    own = {name: value for name, value in part.items() if name not in ("type", "name", "input")}
    function = {"name": part["name"], "arguments": part.get("input") or {}}
    return {**own, "type": "function", "function": function}


def content_of(sent: Object, where: str, *, takes_all: bool) -> Object:
    """Return `content`, the text of a message, and `parts` if these are more than texts."""
    if not isinstance(sent.get("content"), list):
        return {"content": sent.get("content") or sent.get("refusal") or ""}
    is_reply = sent["role"] == "assistant"
    parts = [
        _part(part, f"{where}.content[{index}]", takes_all=takes_all)
        for index, part in enumerate(_parts(sent))
        if not (is_reply and part["type"] in REPLY_PART_TYPES)
    ]
    text = "".join(part if isinstance(part, str) else getattr(part, "text", "") for part in parts)
    content = {"content": text or sent.get("refusal") or ""}
    return content if all(isinstance(part, str) for part in parts) else content | {"parts": parts}


def _parts(sent: Object) -> list[Object]:
    content = sent.get("content")
    return content if isinstance(content, list) else []


def _part(sent: Object, where: str, *, takes_all: bool) -> str | PromptPicture | SentDocument | SentPart:
    kind = sent["type"]
    if name := TEXT_FIELDS.get(kind):
        return marked_text(sent[name], unknown_fields(sent, {name}, where, takes_all=takes_all))
    if not settings.ATTACHMENTS:
        raise invalid(NO_FILES, f"{where}.type")
    if kind in PICTURE_PART_TYPES:
        return picture_of(sent, where, takes_all=takes_all)
    is_document = kind in DOCUMENT_PART_TYPES
    if is_document and not (takes_all and _is_elsewhere(sent.get("file", sent))):
        return document_of(sent, where, takes_all=takes_all)
    if not takes_all or not (is_document or kind in MEDIA_PART_TYPES):
        raise invalid(NO_CHOICE, f"{where}.type", value=kind)
    for name, address in _addresses(sent, where):
        if address and not data_urls.HEAD.match(address):
            checked_address(address, name[:MAX_QUOTED_CHARS])
    return SentPart({name: value for name, value in sent.items() if value is not None})


def _is_elsewhere(file: Object) -> bool:
    """Return True for a file that only the model's server can get: by an id there, or an address."""
    return not data_urls.HEAD.match(file.get("file_data") or "")


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
