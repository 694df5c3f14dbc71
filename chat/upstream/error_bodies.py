"""Codes and texts in the response to a failed request, in any envelope, and the wait that it asks for."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

MAX_ENVELOPE_DEPTH = 8  # levels of an error envelope that are searched
MAX_ENTRIES = 50
CODE_FIELDS = ("internalCode", "code", "type", "status", "error_type", "__type", "reason")
STATUS_FIELDS = ("httpCode", "status_code", "statusCode")
TEXT_FIELDS = ("message", "Message", "msg", "error_msg", "error_message", "detail", "title", "status_msg")
NESTED_FIELDS = (
    "errors", "error", "error_chain", "detail", "details", "innererror", "metadata", "raw", "base_resp",
)  # fmt: skip
# "Please try again in 1.5s", "retry after 20 seconds", "retryDelay": "34.07s"
WAIT_IN_TEXT = re.compile(
    r"(?:try again|retry) (?:in|after) ([0-9hms.]{1,20}(?: ?(?:ms|s|seconds?|minutes?))?)", re.I
)
DURATION = re.compile(
    r"([0-9]+(?:\.[0-9]+)?) ?(ms|milliseconds?|h|hours?|m|min|minutes?|s|sec|seconds?)?", re.I
)
SECONDS_OF_UNIT = {"": 1.0, "ms": 0.001, "mi": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0}
RESET_HEADER = re.compile(r"(?:x|anthropic)-ratelimit-(?:[a-z-]+-)?reset(?:-[a-z-]+)?")
DELAY_FIELDS = ("retryDelay", "retry_after", "retryAfter", "retry_after_seconds", "estimated_time")
MAX_WAIT_SECONDS = 999_999_999.0
EPOCH_SECONDS = 1_000_000_000  # a larger number is a time, not a duration
EPOCH_MILLISECONDS = 100_000_000_000


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
    if isinstance(place := error.get("loc"), list):  # FastAPI's, of an invalid field
        text = f"{'.'.join(map(str, place))}: {text}"
    if codes or text:
        param = error.get("param")
        yield Entry(codes, text, param if isinstance(param, str) else "")
        yield from _quoted(text, depth)
    for name in NESTED_FIELDS:
        if (inner := error.get(name)) and not (inner == text and isinstance(inner, str)):
            yield from _entries(inner, depth + 1)


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
    for wait in (_in_milliseconds(headers), _in_seconds(headers), _by_limits(headers)):
        if wait is not None:
            return min(wait, MAX_WAIT_SECONDS)
    if delay := _retry_delay(payload, 0):
        wait = _duration(delay)
        return wait if wait is None else min(wait, MAX_WAIT_SECONDS)
    found = WAIT_IN_TEXT.search(text)
    return _duration(found[1].rstrip(".")) if found else None


def _in_milliseconds(headers: Mapping[str, str]) -> float | None:
    found = re.fullmatch(r"[0-9]{1,12}(\.[0-9]+)?", headers.get("retry-after-ms", "").strip(), re.ASCII)
    return float(found[0]) / 1000 if found else None


def _in_seconds(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?s?", value, re.ASCII):
        return float(value.rstrip("s")[:12])
    return _until(value)


def _until(date: str) -> float | None:
    """Return the seconds until a date, as HTTP or RFC 3339 write it; None if it is none."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return max(0.0, (read(date) - datetime.now(UTC)).total_seconds())
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


def _reset(value: str) -> float | None:
    if re.fullmatch(r"[0-9]{10,15}(\.[0-9]+)?", value, re.ASCII):
        moment = float(value)
        moment = moment / 1000 if moment > EPOCH_MILLISECONDS else moment
        return max(0.0, moment - datetime.now(UTC).timestamp())
    return _until(value) if "-" in value else _duration(value)


def _duration(value: str) -> float | None:
    """Return the seconds of `7`, `1.5s`, `120ms` or `1h6m0s`; None for anything else."""
    parts = list(DURATION.finditer(value))
    if not parts or "".join(part[0] for part in parts) != value or len(value) > 20:
        return None
    units = [(part[2] or "").lower() for part in parts]
    keys = [
        "mi" if unit.startswith("min") else "ms" if unit[:2] in ("ms", "mi") else unit[:1] for unit in units
    ]
    return sum(float(part[1]) * SECONDS_OF_UNIT[key] for part, key in zip(parts, keys, strict=True))


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
