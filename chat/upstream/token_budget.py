"""The conversation cut to the model's window, and the reply's budget: what is sent always fits."""

import re
from dataclasses import dataclass

from .catalogue import Model
from .errors import Kind, UpstreamError

REPLY = 16_384  # tokens for a reply, thinking included, where the model names no limit of its own
SHARE = 3  # a reply gets at most this part of the window,
CHOSEN_SHARE = 2  # and where somebody wants more, this one
MESSAGE = 4  # tokens a message costs beside its text
SMALLEST_REPLY = 64  # tokens; with less room than this nothing is asked

# UTF-8 bytes a token holds, cautiously: English has four, Chinese three, a small vocabulary fewer.
BYTES_A_TOKEN = 3
BYTES_A_LOCAL_TOKEN = 2
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


def fit(messages: list[dict[str, str]], model: Model, reply: int | None = None, *, needed: int = 1) -> Fit:
    """Leave out the oldest turns until the rest and a reply of `reply` tokens fit into the window.

    Never the system prompt nor the last `needed` messages; what is left begins with a question. Raises
    UpstreamError (too long) where those alone do not fit.
    """
    system = messages[:1] if messages[0]["role"] == "system" else []
    turns = messages[len(system) :]
    wanted = min(reply or usual(model), longest(model))
    room = model.window - wanted - sum(tokens(message, model) for message in system)
    kept = max(0, len(turns) - needed)
    room -= sum(tokens(turn, model) for turn in turns[kept:])
    if room + wanted < min(wanted, SMALLEST_REPLY):
        raise UpstreamError(Kind.TOO_LONG)
    while kept > 0 and room >= (cost := tokens(turns[kept - 1], model)):
        kept -= 1
        room -= cost
    while turns[kept]["role"] != "user" and kept < len(turns) - 1:
        kept += 1
    return Fit(system + turns[kept:], min(wanted, wanted + room), kept)


def longest(model: Model) -> int:
    """How many tokens a reply may be given at the most."""
    return min(model.max_output or model.window, model.window // CHOSEN_SHARE)


def usual(model: Model) -> int:
    """How many it is given where nobody chose."""
    return min(model.max_output or REPLY, model.window // SHARE)


def tokens(message: dict[str, str], model: Model) -> int:
    """How many tokens a message is at the most, estimated from its bytes."""
    text = message["content"].encode("utf-8", "surrogatepass")
    several, share = (WORDS, BYTES_A_LOCAL_TOKEN) if model.local else (NO_DIGITS, BYTES_A_TOKEN)
    alone = len(several.sub(b"", text))
    return MESSAGE + alone - (-(len(text) - alone) // share)
