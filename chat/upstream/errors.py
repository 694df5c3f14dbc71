"""Errors of the model servers: their classification, the retry decision and the messages for users.

Sources: Cloudflare's lists of Workers AI, AI Gateway and AI Search errors, and recorded bodies.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import httpx

from chat.telemetry.redaction import redact
from chat.upstream.http_transport import CONNECTION_ERRORS
from chat.wire.frames import FrameError

from . import error_bodies
from .error_bodies import Entry
from .error_kinds import FIELD_WORDS, KIND_OF_CODE, TRANSIENT_KINDS, ErrorKind, kind_of

__all__ = ["ErrorKind", "UpstreamError", "from_payload", "from_response"]


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
NO_PROVIDER_KEY = gettext_noop(
    "This site’s AI Gateway needs a key of its own for this provider, and has none. Tell your administrator."
)
# Messages for single error codes, more precise than the one of the code's kind.
SENTENCES_OF_CODES = {
    "5023": gettext_noop("This model can’t stream JSON. Send the request without “stream”."),
    "7069": gettext_noop(
        "This month’s searches of the Cloudflare account are used up. Tell your administrator."
    ),
    "5025": gettext_noop("This model doesn’t support JSON schemas. Choose another model."),
    "2001": gettext_noop("This AI Gateway doesn’t exist. Tell your administrator."),
    "2005": gettext_noop("The AI Gateway got no response from the model’s provider. Try again in a moment."),
    "2040": NO_PROVIDER_KEY,
    "3021": gettext_noop("Too many requests in the last minute. Wait a moment, then try again."),
    "5005": gettext_noop("This model doesn’t support LoRA adapters. Choose another model."),
    "5016": gettext_noop(
        "The license of this model has not been accepted in this Cloudflare account. Tell your administrator."
    ),
    "5028": gettext_noop("Cloudflare no longer offers this model. Choose another one."),
    "5035": gettext_noop("This model needs Cloudflare’s Workers Paid plan. Choose another one."),
    "8006": gettext_noop("The reply’s limit is too small for the required tool call. Raise “max_tokens”."),
}
MODEL_PAUSED = gettext_noop(
    "This model has failed several times in a row and is paused for a moment. "
    "Try again soon or choose another one."
)
SPENT = gettext_noop("The spending limit of this site’s AI Gateway is reached. Tell your administrator.")
DENIED_BY_POLICY = gettext_noop(
    "A policy of this site’s AI Gateway denies this request. Choose another model or tell your administrator."
)
JSON_NOT_MET = gettext_noop(
    "The model couldn’t produce JSON that matches the schema. Try again or use a simpler schema."
)
# Messages for errors that have no code of their own.
# https://developers.cloudflare.com/workers-ai/features/json-mode/
# https://developers.cloudflare.com/ai-gateway/features/policies/
SENTENCES_OF_TEXTS = {
    ErrorKind.INVALID: [
        (re.compile(r"json mode couldn.t be met", re.I), JSON_NOT_MET),
        (re.compile(r"byok|provider key", re.I), NO_PROVIDER_KEY),
    ],
    ErrorKind.CREDITS: [
        (re.compile(r"spend(?:ing)? (?:limit|cap)", re.I), SPENT),
        (re.compile(r"unified billing", re.I), NO_PROVIDER_KEY),
    ],
    ErrorKind.NOT_PERMITTED: [
        (re.compile(r"denied by (?:a |the )?(?:gateway )?policy", re.I), DENIED_BY_POLICY)
    ],
}
CODE_IN_TEXT = re.compile(r"(?<!\d)(\d{4,5}):")
ERROR_STATUSES = range(400, 600)
REQUEST_ID_SUFFIX = re.compile(r"\s*\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8})\)\s*$")
PARAM = re.compile(r"[\w.\[\]-]{1,100}", re.ASCII)
NO_HEADERS: Mapping[str, str] = {}
SECRET = re.compile(r"(?i)\bbearer\s+\S+|\b[A-Za-z0-9_-]{40,}\b")
MAX_DETAIL_CHARS = 300
MAX_READ_CHARS = 4_000  # of a server's message, which are searched for secrets
RATE_WINDOW_SECONDS = 60.0  # of Cloudflare's rate limit
MAX_ERROR_BYTES = 65_536  # limit for the body of an error response
ERROR_READ_SECONDS = 5.0  # limit for reading that body
# The kinds of replies that the server calls failed by their finish reason; the others are cut.
KIND_OF_END = {
    "insufficient_system_resource": ErrorKind.BUSY,
    "overloaded": ErrorKind.BUSY,
    "timeout": ErrorKind.TIMEOUT,
    "timeout_error": ErrorKind.TIMEOUT,
    "error": ErrorKind.UNAVAILABLE,
    "failed": ErrorKind.UNAVAILABLE,
    "server_error": ErrorKind.UNAVAILABLE,
    "internal_error": ErrorKind.UNAVAILABLE,
}


class UpstreamError(Exception):
    """An error of a model server, or one on the way to it.

    `message` is for the user, `detail` (the server's own message without secrets) for the administrator.
    `permanent`: a retry is of no use. `retry_after`: seconds, estimated if the server named none, None if
    unknown. `retry_after_header`: the seconds that the server itself named, else None. `is_redacted`: the
    detail contained one of the site's own secrets. `from_server`: the detail is the server's, whose `param`
    names a field of the request and whose `word` is one of FIELD_WORDS, or both are "". `unreachable`: no
    connection was made, so no request is to blame. `quotes_request`: the detail may repeat what a person
    wrote, so nothing is learned from its words. `person`: the pseudonym of who asked, "" for the site itself.
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
        self.from_server = self.unreachable = self.quotes_request = False
        self.param = self.word = self.person = ""
        redacted = redact(detail[:MAX_READ_CHARS])
        self.is_redacted = redacted != detail[:MAX_READ_CHARS]
        self.detail = SECRET.sub("…", redacted)[:MAX_DETAIL_CHARS]
        super().__init__(f"{kind} {code}".strip())


def _sentence(kind: ErrorKind, code: str, detail: str) -> str:
    for pattern, sentence in SENTENCES_OF_TEXTS.get(kind, ()):
        if pattern.search(detail):
            return sentence
    return SENTENCES_OF_CODES.get(code, ERROR_SENTENCES[kind])


def from_response(
    status: int, headers: Mapping[str, str], body: bytes, *, from_cloudflare: bool = True
) -> UpstreamError:
    """Return the error of an HTTP response that is not 2xx.

    The body may be JSON in any envelope, HTML or empty. `from_cloudflare`: its numbers may be those of
    Cloudflare's lists; other servers have four digits with meanings of their own.
    """
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    return _error(payload, status, headers, from_cloudflare)


def from_payload(
    payload: object, headers: Mapping[str, str] = NO_HEADERS, *, from_cloudflare: bool = True
) -> UpstreamError:
    """Return the error of an error frame in a stream, or of a body that was sent with status 200."""
    return _error(payload, None, headers, from_cloudflare)


def _error(
    payload: object, status: int | None, headers: Mapping[str, str], from_cloudflare: bool
) -> UpstreamError:
    found = error_bodies.entries(payload)
    code, status = _code(found, status)
    code = code if from_cloudflare else ""
    text, request_id = _text(found, code)
    words = [each for entry in found for each in entry.codes if not each.isdecimal()]
    param = next((entry.param for entry in found if PARAM.fullmatch(entry.param)), "")
    kind = kind_of(code, words, text, status, param)
    named = wait = error_bodies.retry_after(headers, payload, text)
    if kind is ErrorKind.QUOTA:
        wait = _until_midnight()
    elif kind is ErrorKind.THROTTLED and wait is None:
        wait = RATE_WINDOW_SECONDS
    elif kind not in TRANSIENT_KINDS:
        wait = None
    error = UpstreamError(
        kind, code=code, status=status, retry_after=wait, request_id=request_id, detail=text
    )
    error.retry_after_header = named
    error.from_server = True
    error.param = param
    error.word = next((word for word in words if word in FIELD_WORDS), "")
    return error


def _code(found: list[Entry], status: int | None) -> tuple[str, int | None]:
    """Return Cloudflare's code of the error, and its HTTP status.

    Known codes first, because the outermost error may only be that of an envelope. Some servers put the HTTP
    status into the field of the code.
    """
    numbers = [code for entry in found for code in entry.codes if re.fullmatch(r"[0-9]{3,6}", code)]
    statuses = [int(number) for number in numbers if int(number) in ERROR_STATUSES]
    others = [number for number in numbers if int(number) not in ERROR_STATUSES]
    begun = [entry.text[:MAX_DETAIL_CHARS] for entry in found]  # `is_quoted` compares no more
    others += [match[1] for text in begun if (match := CODE_IN_TEXT.search(text))]
    code = next((code for code in others if code in KIND_OF_CODE), next(iter(others), ""))
    return code, status or next(iter(statuses), None)


def _text(found: list[Entry], code: str) -> tuple[str, str]:
    """Return the texts of the errors without repetitions, that of the code first, and the request's id."""
    texts, request_id = "", ""
    for entry in sorted(found, key=lambda entry: code not in entry.codes):
        text = entry.text
        if match := REQUEST_ID_SUFFIX.search(text):
            request_id, text = request_id or match[1], text[: match.start()]
        if text and text not in texts and len(texts) < MAX_READ_CHARS:
            texts = f"{texts}: {text}" if texts else text
    return texts, request_id


def _until_midnight() -> float:
    """Return the seconds until 00:00 UTC, when Cloudflare resets the daily allowance."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - now).total_seconds()


async def read_error(
    response: httpx.Response, chunks: AsyncIterator[bytes], request_id: str, *, from_cloudflare: bool
) -> UpstreamError:
    """Read a response with an error status to its end, and return the error."""
    if response.is_redirect:
        # Redirects are not followed, because the token would be sent to their target.
        return permanent(UpstreamError(ErrorKind.UNAVAILABLE, status=response.status_code))
    body = await _body(chunks)
    error = from_response(response.status_code, response.headers, body, from_cloudflare=from_cloudflare)
    error.request_id = error.request_id or request_id
    return error


def error_of_frame(error: FrameError, headers: Mapping[str, str], *, from_cloudflare: bool) -> UpstreamError:
    if error.reason:
        kind = KIND_OF_END.get(error.reason, ErrorKind.INTERRUPTED)
        return UpstreamError(kind, detail=f"the finish reason “{error.reason}”")
    if error.payload is None:
        return UpstreamError(ErrorKind.INTERRUPTED, detail="a broken frame")
    return from_payload(error.payload, headers, from_cloudflare=from_cloudflare)


def permanent(error: UpstreamError) -> UpstreamError:
    error.permanent = True
    return error


async def _body(chunks: AsyncIterator[bytes]) -> bytes:
    """Return at most MAX_ERROR_BYTES of the body, as many as arrive within ERROR_READ_SECONDS.

    A connection error ends the body too, because the beginning of an error response is enough.
    """
    body = bytearray()
    with suppress(*CONNECTION_ERRORS):  # the timeout's TimeoutError is an OSError
        async with asyncio.timeout(ERROR_READ_SECONDS):
            async for chunk in chunks:
                body += chunk
                if len(body) > MAX_ERROR_BYTES:
                    break
    return bytes(body[:MAX_ERROR_BYTES])
