"""Errors of the model servers: their classification, the retry decision and the messages for users.

Sources: Cloudflare's lists of Workers AI, AI Gateway and AI Search errors, and recorded bodies.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from chat.redaction import redact


class ErrorKind(StrEnum):
    AUTH = "auth"
    NOT_PERMITTED = "not_permitted"
    UNKNOWN_MODEL = "unknown_model"
    TOO_LONG = "too_long"
    QUOTA = "quota"
    THROTTLED = "throttled"
    BUSY = "busy"
    TIMEOUT = "timeout"
    BLOCKED = "blocked"
    CREDITS = "credits"
    INVALID = "invalid"
    UNAVAILABLE = "unavailable"
    INTERRUPTED = "interrupted"


def gettext_noop(sentence: str) -> str:
    """Mark a string for translation where it is displayed; makemessages finds it by this function's name."""
    return sentence


ERROR_SENTENCES = {
    ErrorKind.AUTH: gettext_noop(
        "Cloudflare rejected this site’s account or API token. Tell your administrator."
    ),
    ErrorKind.NOT_PERMITTED: gettext_noop(
        "This Cloudflare account can’t use this model. Choose another one."
    ),
    ErrorKind.UNKNOWN_MODEL: gettext_noop("Cloudflare doesn’t offer this model. Choose another one."),
    ErrorKind.TOO_LONG: gettext_noop(
        "This is too long for the model. Shorten your message or choose a model with a larger context window."
    ),
    ErrorKind.QUOTA: gettext_noop(
        "Today’s free allowance of this Cloudflare account is used up. It resets at 00:00 UTC."
    ),
    ErrorKind.THROTTLED: gettext_noop("Too many requests in the last minute. Wait a moment, then try again."),
    ErrorKind.BUSY: gettext_noop("The model is busy. Try again in a moment or choose another one."),
    ErrorKind.TIMEOUT: gettext_noop("The model took too long. Try again."),
    ErrorKind.BLOCKED: gettext_noop(
        "A filter of this site’s Cloudflare account blocked this. Rephrase your message."
    ),
    ErrorKind.CREDITS: gettext_noop("This Cloudflare account is out of credit. Tell your administrator."),
    ErrorKind.INVALID: gettext_noop("The model couldn’t process this request. Try another model."),
    ErrorKind.UNAVAILABLE: gettext_noop("The model’s server is unavailable. Try again in a moment."),
    ErrorKind.INTERRUPTED: gettext_noop("The connection to the model was lost during the reply."),
}
# Messages for single error codes, more precise than the one of the code's kind.
SENTENCES_OF_CODES = {
    "5023": gettext_noop("This model can’t stream JSON. Send the request without “stream”."),
    "7069": gettext_noop(
        "This month’s searches of the Cloudflare account are used up. Tell your administrator."
    ),
    "5025": gettext_noop("This model doesn’t support JSON schemas. Choose another model."),
}
MODEL_PAUSED = gettext_noop(
    "This model has failed several times in a row and is paused for a moment. "
    "Try again soon or choose another one."
)
JSON_NOT_MET = gettext_noop(
    "The model couldn’t produce JSON that matches the schema. Try again or use a simpler schema."
)
TRANSIENT_KINDS = {
    ErrorKind.THROTTLED,
    ErrorKind.BUSY,
    ErrorKind.TIMEOUT,
    ErrorKind.UNAVAILABLE,
    ErrorKind.INTERRUPTED,
}

CODES_OF_KIND = {
    # 7000 and 7003, "could not route", are the response to a wrong account id; 7002 and 7063 to a wrong name
    # of an instance of AI Search, or of its namespace.
    ErrorKind.AUTH: "2009 7000 7003 7012 7071 7077 9109 10000",
    ErrorKind.NOT_PERMITTED: "3023 3041 5005 5016 5018 5035",
    ErrorKind.UNKNOWN_MODEL: "3042 5007 5028 7002 7063",
    ErrorKind.TOO_LONG: "3006 3010 5021 7079",
    ErrorKind.QUOTA: "3036 4006",
    ErrorKind.THROTTLED: "2003 3021",
    ErrorKind.BUSY: "3040",
    ErrorKind.TIMEOUT: "3007 3008 3046 7030 7031",
    ErrorKind.BLOCKED: "2016 2017 3030",
    ErrorKind.CREDITS: "2021 7069",
    ErrorKind.INVALID: "2001 2040 3003 3039 5004 5006 5012 5019 5023 5025 7010 7018 7019 7038 8001 8006",
    ErrorKind.UNAVAILABLE: "7009 7013 7017",
}
KIND_OF_CODE = {code: kind for kind, codes in CODES_OF_KIND.items() for code in codes.split()}
KIND_OF_STATUS = {
    400: ErrorKind.INVALID,
    401: ErrorKind.AUTH,
    402: ErrorKind.CREDITS,
    403: ErrorKind.NOT_PERMITTED,
    404: ErrorKind.UNKNOWN_MODEL,
    405: ErrorKind.INVALID,
    408: ErrorKind.TIMEOUT,
    409: ErrorKind.BUSY,
    413: ErrorKind.TOO_LONG,
    422: ErrorKind.INVALID,
    424: ErrorKind.BLOCKED,
    429: ErrorKind.THROTTLED,
    504: ErrorKind.TIMEOUT,
    524: ErrorKind.TIMEOUT,
}
# Texts that take precedence over the error code, because some codes are ambiguous: 3030 stands both for a
# safety filter and for an exceeded context window.
TEXT_PATTERNS = [
    (re.compile(r"daily free allocation", re.I), ErrorKind.QUOTA),
    (re.compile(r"exceeded your current quota|credit balance is too low", re.I), ErrorKind.CREDITS),
    (
        re.compile(
            r"max context|context (length|window|size)|sequence too long"
            r"|max_(completion_)?tokens is too large|prompt is too long",
            re.I,
        ),
        ErrorKind.TOO_LONG,
    ),
    (re.compile(r"\bmodel\b.*\bdeprecated", re.I), ErrorKind.UNKNOWN_MODEL),
]
# https://developers.cloudflare.com/workers-ai/features/json-mode/
JSON_FAILED = re.compile(r"json mode couldn.t be met", re.I)
CODE_IN_TEXT = re.compile(r"(?<!\d)(\d{4,5}):")
ERROR_STATUSES = range(400, 600)
MAX_ENVELOPE_DEPTH = 6  # levels of an error envelope that are searched
REQUEST_ID_SUFFIX = re.compile(r"\s*\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8})\)\s*$")
SECRET = re.compile(r"(?i)\bbearer\s+\S+|\b[A-Za-z0-9_-]{40,}\b")
MAX_DETAIL_CHARS = 300
MAX_READ_CHARS = 4_000  # of a server's message, which are searched for secrets
RATE_WINDOW_SECONDS = 60.0  # of Cloudflare's rate limit


class UpstreamError(Exception):
    """An error of a model server, or one on the way to it.

    `message` is for the user, `detail` (the server's own message without secrets) for the administrator.
    `permanent`: a retry is of no use. `retry_after`: seconds, estimated if the server named none, None if
    unknown. `retry_after_header`: the seconds that the server itself named, else None. `is_redacted`: the
    detail contained one of the site's own secrets.
    """

    def __init__(
        self,
        kind: ErrorKind,
        *,
        code: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str = "",
        detail: str = "",
    ) -> None:
        self.kind = kind
        self.code = code
        self.status = status
        self.permanent = kind not in TRANSIENT_KINDS
        self.retry_after = retry_after
        self.retry_after_header: float | None = None
        self.message = _sentence(kind, code, detail)
        self.request_id = request_id
        redacted = redact(detail[:MAX_READ_CHARS])
        self.is_redacted = redacted != detail[:MAX_READ_CHARS]
        self.detail = SECRET.sub("…", redacted)[:MAX_DETAIL_CHARS]
        super().__init__(f"{kind} {code}".strip())


def _sentence(kind: ErrorKind, code: str, detail: str) -> str:
    if kind is ErrorKind.INVALID and JSON_FAILED.search(detail):
        return JSON_NOT_MET
    return SENTENCES_OF_CODES.get(code, ERROR_SENTENCES[kind])


def from_response(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Return the error of an HTTP response that is not 2xx.

    The body may be JSON in any envelope, HTML or empty.
    """
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    return _error(payload, status, _retry_after(headers))


def from_payload(payload: object) -> UpstreamError:
    """Return the error of an error frame in a stream, or of a body that was sent with status 200."""
    return _error(payload, None, None)


def _error(payload: object, status: int | None, retry_after: float | None) -> UpstreamError:
    entries = list(_entries(payload))
    # Known codes first, because the outermost error may only be that of an envelope.
    entries.sort(key=lambda entry: entry[0] not in KIND_OF_CODE)
    code = next((code for code, _ in entries if code), "")
    text = next((text for _, text in entries if text), "")
    if not code and (match := CODE_IN_TEXT.search(text)):
        code = match[1]
    if code.isdecimal() and int(code) in ERROR_STATUSES:
        # Some servers put the HTTP status into the field of Cloudflare's error code.
        status, code = status or int(code), ""
    request_id = ""
    if match := REQUEST_ID_SUFFIX.search(text):
        request_id, text = match[1], text[: match.start()]
    kind, named = _kind(code, text, status), retry_after
    if kind is ErrorKind.QUOTA:
        retry_after = _until_midnight()
    elif kind is ErrorKind.THROTTLED and retry_after is None:
        retry_after = RATE_WINDOW_SECONDS
    error = UpstreamError(
        kind, code=code, status=status, retry_after=retry_after, request_id=request_id, detail=text
    )
    error.retry_after_header = named
    return error


def _entries(payload: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (code, text) of each error in the payload, the outermost first.

    Envelopes: errors[], error[], error{}, error "", a bare list, `internalCode` or `code` beside `message`.
    """
    if depth > MAX_ENVELOPE_DEPTH:
        return
    if isinstance(payload, list):
        for entry in payload:
            yield from _entries(entry, depth + 1)
    elif isinstance(payload, str):
        yield "", payload
    elif isinstance(payload, dict):
        code = payload.get("internalCode") or payload.get("code")
        text = payload.get("message")
        if code or text:
            yield _code(code), text if isinstance(text, str) else ""
        for name in ("errors", "error", "error_chain"):
            if payload.get(name):
                yield from _entries(payload[name], depth + 1)


def _code(code: Any) -> str:
    """Return a numeric code as a string; "" for the words that some servers use (`invalid_prompt`)."""
    if isinstance(code, bool) or not isinstance(code, int | str):
        return ""
    return str(code) if re.fullmatch(r"[0-9]{3,6}", str(code)) else ""


def _kind(code: str, text: str, status: int | None) -> ErrorKind:
    for pattern, kind in TEXT_PATTERNS:
        if pattern.search(text):
            return kind
    if code in KIND_OF_CODE:
        return KIND_OF_CODE[code]
    if status is None:
        return ErrorKind.UNAVAILABLE
    return KIND_OF_STATUS.get(status, ErrorKind.INVALID if 400 <= status < 500 else ErrorKind.UNAVAILABLE)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the Retry-After header, seconds or a date, in seconds; None if it is missing or invalid.

    https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+", value):
        return float(value[:9])
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _until_midnight() -> float:
    """Return the seconds until 00:00 UTC, when Cloudflare resets the daily allowance."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - now).total_seconds()
