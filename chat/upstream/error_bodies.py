"""The parts of a failed request's body, in any envelope: codes, texts, the wait it asks for, and limits."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

MAX_ENVELOPE_DEPTH = 8  # levels of an error envelope that are searched
MAX_ENTRIES = 50
CODE_FIELDS = (
    "internalCode", "code", "type", "status", "error_type", "error_code", "__type", "reason",
)  # fmt: skip
STATUS_FIELDS = ("httpCode", "status_code", "statusCode")
TEXT_FIELDS = (
    "message",
    "Message",
    "msg",
    "error_msg",
    "error_message",
    "detail",
    "title",
    "status_msg",
    "text",
)
NESTED_FIELDS = (
    "errors", "error", "message", "error_chain", "detail", "details", "innererror", "metadata", "raw",
    "base_resp",
)  # fmt: skip
# "Please try again in 1.5s", "retry after 20 seconds", "retryDelay": "34.07s"
NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,9})?"
UNIT = r"(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])"
PART = rf"{NUMBER} ?{UNIT}"
TIME = rf"(?:{PART}(?:(?: and |,? )?{PART})*|{NUMBER}(?![.:-]?[0-9]| ?[a-z]))"
CLOCK = r"[0-9]{1,3}(?::[0-5][0-9]){1,2}(?![0-9:])"  # a duration as hours, minutes and seconds
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,18}(?:Z|[+-][0-9]{2}:?[0-9]{2})"
WAIT_IN_TEXT = re.compile(
    rf"(?:(?:try again|retry) (?:in|after)|please wait):? ({DATE}|{CLOCK}|{TIME})", re.I
)
DURATION = re.compile(TIME, re.I)
PART_OF_DURATION = re.compile(rf"({NUMBER}) ?({UNIT})?", re.I)
SECONDS_OF_UNIT = {"": 1.0, "m": 60.0, "s": 1.0, "h": 3600.0, "d": 86_400.0}
RESET_HEADER = re.compile(r"(?:x|anthropic)-ratelimit-(?:[a-z-]+-)?reset(?:-[a-z-]+)?")
DELAY_FIELDS = ("retryDelay", "retry_after", "retryAfter", "retry_after_seconds", "estimated_time")
MAX_WAIT_SECONDS = 999_999_999.0
EPOCH_MILLISECONDS = 100_000_000_000  # a larger number has milliseconds
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


class Entry(NamedTuple):
    """One error of an envelope: its numbers and words, and its text."""

    codes: list[str]
    text: str = ""
    param: str = ""


def entries(payload: object) -> list[Entry]:
    """Return each error in the payload, the outermost first.

    Envelopes: errors[], error[], error{}, error "", a bare list, `internalCode` or `code` beside `message`,
    FastAPI's `detail`, and JSON inside a text, as gateways quote the servers behind them.
    """
    return [entry for entry, _ in zip(_entries(payload, 0), range(MAX_ENTRIES), strict=False)]


def _entries(payload: object, depth: int) -> Iterator[Entry]:
    if depth > MAX_ENVELOPE_DEPTH:
        return
    if isinstance(payload, list):
        for each in payload:
            yield from _entries(each, depth + 1)
    elif isinstance(payload, str):
        yield Entry([], payload)
        yield from _quoted(payload, depth)
    elif isinstance(payload, dict):
        yield from _entries_of(payload, depth)


def _entries_of(error: dict[str, Any], depth: int) -> Iterator[Entry]:
    codes = [code for name in (*CODE_FIELDS, *STATUS_FIELDS) if (code := _code(error.get(name)))]
    text = next((each for name in TEXT_FIELDS if isinstance(each := error.get(name), str) and each), "")
    param = error.get("param")
    if isinstance(place := error.get("loc"), list):  # FastAPI's, of an invalid field
        text = f"{'.'.join(map(str, place))}: {text}"
        param = param or _param(place)
    if codes or text:
        yield Entry(codes, text, param if isinstance(param, str) and param != "None" else "")
        yield from _quoted(text, depth)
    for name in NESTED_FIELDS:
        if (inner := error.get(name)) and not (inner == text and isinstance(inner, str)):
            yield from _entries(inner, depth + 1)


def _param(place: list[Any]) -> str:
    """Return FastAPI's place of a field as OpenAI writes it: `messages[0].content`."""
    names = place[1:] if place[:1] == ["body"] else place
    return "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in names).removeprefix(".")


def _quoted(text: str, depth: int) -> Iterator[Entry]:
    """Yield the errors of a JSON object in a text."""
    start = text.find("{")
    if start < 0 or '"' not in text:
        return
    try:
        inner, _end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return
    yield from _entries(inner, depth + 1)


def _code(code: object) -> str:
    """Return a code as text; "" for what is none, such as a sentence."""
    if isinstance(code, bool) or not isinstance(code, int | str):
        return ""
    return str(code) if re.fullmatch(r"[\w.#-]{2,100}", str(code)) else ""


def retry_after(headers: Mapping[str, str], payload: object, text: str) -> float | None:
    """Return the seconds to wait by the headers, else by the body; None if they name none.

    https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
    """
    value = headers.get("retry-after", "").strip()
    waits = (
        _in_milliseconds(headers.get("retry-after-ms", "").strip()),
        _seconds(value[:12] if value.isdecimal() else value),
        _by_limits(headers),
        _by_limits(_quoted_headers(payload)),
    )
    wait = next((each for each in waits if each is not None), None)
    if wait is None:
        delay = _retry_delay(payload, 0)
        found = None if delay else WAIT_IN_TEXT.search(text)
        wait = _seconds(found[1] if found else delay)
    return wait if wait is None else min(wait, MAX_WAIT_SECONDS)


def _in_milliseconds(value: str) -> float | None:
    return float(value) / 1000 if re.fullmatch(NUMBER, value, re.ASCII) else None


def _seconds(said: str) -> float | None:
    """Return the seconds of `7`, `1.5s`, `1h6m0s`, `1 minute 30 seconds`, `00:05:30`, or until a date.

    The date is as HTTP or RFC 3339 write it. None for anything else.
    """
    if DURATION.fullmatch(said):
        return sum(float(part[1]) * _seconds_of(part[2] or "") for part in PART_OF_DURATION.finditer(said))
    if re.fullmatch(CLOCK, said):
        return float(sum(int(part) * 60**place for place, part in enumerate(reversed(said.split(":")))))
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return max(0.0, (read(said) - datetime.now(UTC)).total_seconds())
        except (TypeError, ValueError, OverflowError):
            continue
    return None


def _by_limits(headers: Mapping[str, str]) -> float | None:
    """Return the wait until the exhausted limit is reset, of several the longest.

    OpenAI and Groq send `x-ratelimit-reset-tokens: 6m0s`, OpenRouter a time in milliseconds, Anthropic
    `anthropic-ratelimit-tokens-reset` with a date.
    """
    waits = []
    for name, value in headers.items():
        if RESET_HEADER.fullmatch(name.lower()) and (wait := _reset(value.strip())) is not None:
            remaining = headers.get(name.replace("reset", "remaining"), "0")
            if remaining.strip() in ("0", "0.0"):
                waits.append(wait)
    return max(waits, default=None)


def _quoted_headers(payload: object) -> dict[str, str]:
    """Return the provider's headers that OpenRouter quotes."""
    for name in ("error", "metadata", "headers"):
        payload = payload.get(name) if isinstance(payload, dict) else None
    found = payload if isinstance(payload, dict) else {}
    return {name.lower(): str(value) for name, value in found.items()}


def _reset(value: str) -> float | None:
    """Return the seconds until a moment, in seconds or milliseconds since 1970, or what `_seconds` reads."""
    if not re.fullmatch(r"[0-9]{10,15}(\.[0-9]+)?", value, re.ASCII):
        return _seconds(value)
    moment = float(value) / (1000 if float(value) > EPOCH_MILLISECONDS else 1)
    return max(0.0, moment - datetime.now(UTC).timestamp())


def _seconds_of(unit: str) -> float:
    unit = unit.lower()
    if unit.startswith(("ms", "milli")):
        return 0.001
    return SECONDS_OF_UNIT[unit[:1]]


def _retry_delay(payload: object, depth: int) -> str:
    """Return Google's `retryDelay`, Hugging Face's `estimated_time` or the like, wherever it stands."""
    if depth > MAX_ENVELOPE_DEPTH or not isinstance(payload, dict | list):
        return ""
    if isinstance(payload, dict):
        for name in DELAY_FIELDS:
            delay = payload.get(name)
            if isinstance(delay, str | int | float) and not isinstance(delay, bool):
                return str(delay)
    inner = payload.values() if isinstance(payload, dict) else payload
    return next(filter(None, (_retry_delay(each, depth + 1) for each in inner)), "")


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
