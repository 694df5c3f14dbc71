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


def _part(sent: Object, where: str, *, takes_all: bool) -> str | PromptPicture | SentDocument | SentPart:
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
        if data_urls.HEAD.match(content) or not takes_all:
            return document_of(sent, where, takes_all=takes_all)
    elif not (takes_all and kind in MEDIA_PART_TYPES):
        raise invalid(NO_CHOICE, f"{where}.type", value=kind)
    for name, address in _addresses(sent, where):
        if address and not data_urls.HEAD.match(address):
            checked_address(address, name[:MAX_QUOTED_CHARS])
    return SentPart({name: value for name, value in sent.items() if value is not None})


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
