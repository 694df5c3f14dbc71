"""A model's real limits, read from its error messages, because some declared windows are too large."""

import json
import re
from dataclasses import dataclass

MIN_LIMIT_TOKENS = 512  # a smaller number is no model's limit, and would reject every prompt
MAX_LIMIT_TOKENS = 100_000_000
TOKENS_PATTERN = r"\(?([0-9][0-9,]{0,15})\)?"
# "Max context reached 80030 tokens but model supports only 60000"; "exceeded this model context window limit
# (32000)"; "maximum context length of 256000 tokens", and vLLM's "maximum context length is 4096 tokens".
WINDOW_ERROR = re.compile(
    rf"(?:max(?:imum)? context.{{0,80}}supports only|context window limit|maximum context length (?:of|is))"
    rf"(?: of)? {TOKENS_PATTERN}",
    re.I | re.S,
)
# "max_completion_tokens is too large: 262144. This model supports at most 256000 completion tokens"
OUTPUT_ERROR = re.compile(rf"supports at most {TOKENS_PATTERN} completion tokens", re.I)

# That the allowance is spent, or that the model has ended.
END_ERROR = re.compile(r"daily free allocation|\b(?:3036|4006|5028):", re.I)


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The limits of a model in tokens; None where the message names none."""

    window: int | None = None
    output: int | None = None


def parse_limits(text: str) -> ModelLimits:
    """Return the limits that an error message names."""
    return ModelLimits(_number(WINDOW_ERROR, text), _number(OUTPUT_ERROR, text))


def is_quoted(text: str, sent: object) -> bool:
    """Return True if what the error message says of the model or the account stands in the request itself.

    Some servers quote that. Else one client could make a model's window small for everybody, or end it.
    `sent`: what the client chose.
    """
    found = [
        match[0] for pattern in (WINDOW_ERROR, OUTPUT_ERROR, END_ERROR) for match in pattern.finditer(text)
    ]
    return bool(found) and any(each in _text_of(sent) for each in found)


def _text_of(sent: object) -> str:
    return json.dumps(sent, ensure_ascii=False, default=str)


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    number = int(found[1].replace(",", "")) if found else 0
    return number if MIN_LIMIT_TOKENS <= number <= MAX_LIMIT_TOKENS else None
