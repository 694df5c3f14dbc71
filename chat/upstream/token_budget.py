"""Fit a conversation and the token budget of its reply into the model's context window."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .catalog import LlmModel
from .errors import ErrorKind, UpstreamError
from .pictures import pictures_of

# Default maximum of a reply in tokens, reasoning included, for models without a limit of their own.
DEFAULT_MAX_TOKENS = 16_384
DEFAULT_REPLY_DIVISOR = 3  # by default a reply may use at most a third of the window
MAX_REPLY_DIVISOR = 2  # on request it may use at most half of the window
TOKENS_PER_MESSAGE = 4  # overhead of a message in addition to its text
MIN_REPLY_TOKENS = 64  # with less room for the reply no request is sent

# UTF-8 bytes per token, a cautious estimate: English has four, Chinese three, a small vocabulary fewer.
BYTES_PER_TOKEN = 3
BYTES_PER_LOCAL_TOKEN = 2
# Bytes that count as several per token; every other byte counts as a token. Many models make a token of each
# digit; a small vocabulary does so with nearly everything but words. With a less cautious estimate, code and
# emoji do not fit into the window.
NO_DIGITS = re.compile(rb"[^0-9]+")
ASCII_WORDS = re.compile(rb" ?[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Fit:
    """The messages to send; `dropped` messages at the beginning of the conversation were left out."""

    messages: list[dict[str, Any]]
    max_tokens: int
    dropped: int


def fit(
    messages: list[dict[str, Any]],
    model: LlmModel,
    reply: int | None = None,
    *,
    needed: int = 1,
    declared: int = 0,
) -> Fit:
    """Leave out the oldest messages until the rest and a reply of `reply` tokens fit into the window.

    `declared`: the tokens of the declarations of tools, which are sent with them.
    The system prompt and the last `needed` messages are always kept; for them the reply's tokens are reduced,
    to MIN_REPLY_TOKENS at the least. The first message after the system prompt is a user's. Raises
    UpstreamError (too long) if these messages alone do not fit.
    """
    system = messages[:1] if messages[0]["role"] == "system" else []
    others = messages[len(system) :]
    wanted = min(reply or default_max_tokens(model), max_tokens_limit(model))
    room = model.window - declared - wanted - estimate_tokens(system, model)
    kept = max(0, len(others) - needed)
    room -= estimate_tokens(others[kept:], model)
    if room + wanted < min(wanted, MIN_REPLY_TOKENS):
        raise UpstreamError(ErrorKind.TOO_LONG)
    while kept > 0 and room >= (cost := _message_tokens(others[kept - 1], model)):
        kept -= 1
        room -= cost
    while others[kept]["role"] != "user" and kept < len(others) - 1:
        kept += 1
    return Fit(system + others[kept:], min(wanted, wanted + room), kept)


def max_tokens_limit(model: LlmModel) -> int:
    """Return the largest `max_tokens` that a reply of the model may have."""
    return min(model.max_output or model.window, model.window // MAX_REPLY_DIVISOR)


def default_max_tokens(model: LlmModel) -> int:
    """Return the `max_tokens` of a reply for which neither the user nor the API client chose a value."""
    return min(model.max_output or DEFAULT_MAX_TOKENS, model.window // DEFAULT_REPLY_DIVISOR)


def estimate_tokens(messages: Iterable[dict[str, Any]], model: LlmModel) -> int:
    """Return an upper estimate of the tokens of messages, from their UTF-8 bytes and their pictures."""
    return sum(_message_tokens(message, model) for message in messages)


def _message_tokens(message: dict[str, Any], model: LlmModel) -> int:
    seen = sum(picture.tokens for picture in pictures_of(message))
    text = message["content"] + (message.get("reasoning", "") if model.reasoning else "")
    if calls := message.get("tool_calls"):
        text += json.dumps(calls, ensure_ascii=False)
    return TOKENS_PER_MESSAGE + seen + estimate_text_tokens(text, local=model.local)


def declaration_tokens(tools: Iterable[Mapping[str, Any]], model: LlmModel) -> int:
    """Return an upper estimate of the tokens of declarations."""
    return sum(estimate_text_tokens(json.dumps(each), local=model.local) for each in tools)


def estimate_text_tokens(text: str, *, local: bool = False) -> int:
    """Return an upper estimate of a text's tokens. `local`: for a local model, with its small vocabulary."""
    content = text.encode("utf-8", "surrogatepass")
    several, share = (ASCII_WORDS, BYTES_PER_LOCAL_TOKEN) if local else (NO_DIGITS, BYTES_PER_TOKEN)
    alone = len(several.sub(b"", content))
    return alone - (-(len(content) - alone) // share)
