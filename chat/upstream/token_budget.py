"""The conversation cut to the model's window, and the reply's budget: what is sent always fits."""

import re
from dataclasses import dataclass

from .catalogue import LlmModel
from .errors import ErrorKind, UpstreamError

DEFAULT_MAX_TOKENS = (
    16_384  # tokens for a reply, thinking included, where the model names no limit of its own
)
DEFAULT_REPLY_DIVISOR = 3  # a reply gets at most this part of the window,
MAX_REPLY_DIVISOR = 2  # and where somebody wants more, this one
TOKENS_PER_MESSAGE = 4  # tokens a message costs beside its text
MIN_REPLY_TOKENS = 64  # tokens; with less room than this nothing is asked

# UTF-8 bytes a token holds, cautiously: English has four, Chinese three, a small vocabulary fewer.
BYTES_PER_TOKEN = 3
BYTES_PER_LOCAL_TOKEN = 2
# What holds several bytes a token; each other byte is one. A digit is one to many models; to a small
# vocabulary so is nearly everything that is no word: with less caution, code and emoji do not fit.
NO_DIGITS = re.compile(rb"[^0-9]+")
WORDS = re.compile(rb" ?[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Fit:
    """What is sent; `dropped` messages at its beginning were left out."""

    messages: list[dict[str, str]]
    max_tokens: int
    dropped: int


def fit(messages: list[dict[str, str]], model: LlmModel, reply: int | None = None, *, needed: int = 1) -> Fit:
    """Leave out the oldest turns until the rest and a reply of `reply` tokens fit into the window.

    Never the system prompt nor the last `needed` messages; what is left begins with a question. Raises
    UpstreamError (too long) where those alone do not fit.
    """
    system = messages[:1] if messages[0]["role"] == "system" else []
    turns = messages[len(system) :]
    wanted = min(reply or default_max_tokens(model), max_max_tokens(model))
    room = model.window - wanted - sum(estimate_tokens(message, model) for message in system)
    kept = max(0, len(turns) - needed)
    room -= sum(estimate_tokens(turn, model) for turn in turns[kept:])
    if room + wanted < min(wanted, MIN_REPLY_TOKENS):
        raise UpstreamError(ErrorKind.TOO_LONG)
    while kept > 0 and room >= (cost := estimate_tokens(turns[kept - 1], model)):
        kept -= 1
        room -= cost
    while turns[kept]["role"] != "user" and kept < len(turns) - 1:
        kept += 1
    return Fit(system + turns[kept:], min(wanted, wanted + room), kept)


def max_max_tokens(model: LlmModel) -> int:
    """How many tokens a reply may be given at the most."""
    return min(model.max_output or model.window, model.window // MAX_REPLY_DIVISOR)


def default_max_tokens(model: LlmModel) -> int:
    """How many it is given where nobody chose."""
    return min(model.max_output or DEFAULT_MAX_TOKENS, model.window // DEFAULT_REPLY_DIVISOR)


def estimate_tokens(message: dict[str, str], model: LlmModel) -> int:
    """How many tokens a message is at the most, estimated from its bytes."""
    text = message["content"].encode("utf-8", "surrogatepass")
    several, share = (WORDS, BYTES_PER_LOCAL_TOKEN) if model.local else (NO_DIGITS, BYTES_PER_TOKEN)
    alone = len(several.sub(b"", text))
    return TOKENS_PER_MESSAGE + alone - (-(len(text) - alone) // share)
