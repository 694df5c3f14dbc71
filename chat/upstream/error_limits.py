"""A model's real limits, read from its error messages, because some declared windows are too large."""

import re
from collections.abc import Iterator, Mapping, Sequence
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

# The fields that a limit can be about.
LIMITED_PARAM = re.compile(r"(?:messages|prompt|input|max_\w*tokens)\b")


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The limits of a model in tokens; None where the message names none."""

    window: int | None = None
    output: int | None = None


def parse_limits(text: str) -> ModelLimits:
    """Return the limits that an error message names."""
    return ModelLimits(_number(WINDOW_ERROR, text), _number(OUTPUT_ERROR, text))


def is_quoted(text: str, param: str, sent: object) -> bool:
    """Return True if the error may only repeat what the request itself says of the model or the account.

    Else one client could make a model's window small for everybody, or end it. Words are compared without
    case, punctuation and spaces, and a number alone is enough, because servers quote in spellings of their
    own. `param`: the field that the server blames; `sent`: what the client chose.
    """
    found = [
        match[0] for pattern in (WINDOW_ERROR, OUTPUT_ERROR, END_ERROR) for match in pattern.finditer(text)
    ]
    if not found:
        return False
    if param and not LIMITED_PARAM.match(param):
        return True
    texts = [each.replace(",", "") for each in _texts(sent)]
    words = _letters("".join(texts))
    numbers = {number for each in found for number in re.findall("[0-9]+", each.replace(",", ""))}
    return any(_letters(each.replace(",", "")) in words for each in found) or any(
        re.search(rf"(?<![0-9]){number}", each) for number in numbers for each in texts
    )


def _texts(sent: object) -> Iterator[str]:
    """Yield all keys and values of a request as text."""
    if isinstance(sent, Mapping):
        sent = [*sent.keys(), *sent.values()]
    if isinstance(sent, Sequence) and not isinstance(sent, str):
        for each in sent:
            yield from _texts(each)
    else:
        yield str(sent)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    number = int(found[1].replace(",", "")) if found else 0
    return number if MIN_LIMIT_TOKENS <= number <= MAX_LIMIT_TOKENS else None
