"""The requests whose bodies may be larger than 1 MiB: uploads, which arrive in a file."""

import re
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse

from chat.api.auth import secret_of
from chat.db.executor import run_in_db
from chat.files import receiving
from chat.limits import MAX_BODY_BYTES, MEBIBYTE
from chat.models import ApiKey
from chat.transfer import uploads
from chatsite.server.early_errors import error_body

JSON_HEADERS = {b"Content-Type": b"application/json"}
TEXT_HEADERS = {b"Content-Type": b"text/plain; charset=utf-8"}
CALLS_AT_ONCE = 4  # of one API key
API_PATHS = re.compile(
    rb"(/v1|/client/v4/accounts/[^/?]+/ai/v1)/chat/completions/?(\?|$)|/client/v4/accounts/[^/?]+/ai/run[/?]?"
)
FILES_AT_ONCE = 8  # of one session


class Refusal(NamedTuple):
    """A response that is sent before the body has arrived."""

    status: int
    body: bytes
    headers: dict[bytes, bytes]


UNWRITABLE = Refusal(
    503,
    error_body(
        "storage_full", 3040, "The server's disk is full or can't be written. Tell your administrator."
    ),
    JSON_HEADERS | {b"Retry-After": b"60"},
)


@dataclass(frozen=True, slots=True)
class LargeBody:
    """The limits of an upload: `limit` in bytes, and `at_once` from the same `sender`.

    `unwritable` refuses what the disk does not take. `check` returns a refusal for a sender who turns out to
    be nobody, while the body arrives.
    """

    sender: Hashable
    limit: int
    at_once: int
    folder: Callable[[], Path]
    too_large: Refusal
    busy: Refusal
    unwritable: Refusal
    check: Callable[[], Awaitable[Refusal | None]] | None = None


def allowed(method: bytes, uri: bytes, headers: Any, length: int) -> LargeBody | None:
    """Return what is allowed of a request that may upload a file, otherwise None.

    `headers` are Twisted's, `length` is 0 if it is not known. No database query: this runs on the event loop
    before the body is read.
    """
    if upload := uploads.body_limit(method, uri):
        return _import(*upload)
    if length > MAX_BODY_BYTES and method == b"POST" and API_PATHS.match(uri):
        return _call(headers.getRawHeaders(b"authorization", [b""])[0].decode("latin-1"))
    if 0 < length <= MAX_BODY_BYTES and uri.partition(b"?")[0] != reverse(receiving.UPLOAD_VIEW).encode():
        return None
    session = receiving.session_of(headers.getRawHeaders(b"cookie", []))
    limit = receiving.body_limit(method, uri, headers.getRawHeaders(b"content-type", [b""])[0])
    if not limit or not session:
        return None
    is_page = b"text/html" in headers.getRawHeaders(b"accept", [b""])[0]
    return _attachments(session, limit, is_page=is_page)


def _import(person: int, limit: int) -> LargeBody:
    """Lead back to the page of the form, which says what is wrong."""
    large, busy, full = (
        Refusal(303, b"", {b"Location": f"{reverse('chat:data')}?problem={problem}".encode()})
        for problem in ("large", "busy", "full")
    )
    return LargeBody(person, limit, 1, uploads.folder, large, busy, full)


def _attachments(session: str, limit: int, *, is_page: bool) -> LargeBody:
    """`is_page`: the form of a page without scripts, whose browser would show JSON as it is."""
    megabytes = f"{settings.ATTACHMENT_MAX_BYTES / 1_000_000:g}"
    sentence = f"This file is larger than {megabytes} MB. Make it smaller, then add it again."
    large = Refusal(413, error_body("attachment_too_large", 3006, sentence), JSON_HEADERS)
    if is_page:
        sentence = (
            f"The files are larger than {megabytes} MB together. Go back and send fewer or smaller files."
        )
        large = Refusal(413, sentence.encode(), TEXT_HEADERS)
    sentence = "Too many files are arriving at once. Wait a moment, then add this one again."
    busy = Refusal(429, error_body("throttled", 3040, sentence), JSON_HEADERS | {b"Retry-After": b"5"})
    check = partial(_check, session)
    return LargeBody(session, limit, FILES_AT_ONCE, receiving.folder, large, busy, UNWRITABLE, check)


def _call(authorization: str) -> LargeBody | None:
    """Allow an API call with a long text or with files, if it names a key."""
    secret = secret_of(authorization)
    if not secret:
        return None
    large = Refusal(
        413,
        error_body(
            "too_long", 3006, f"The request is larger than {settings.API_MAX_BODY_MB} MiB. Send less."
        ),
        JSON_HEADERS,
    )
    sentence = "Too many large requests are arriving at once. Wait a moment, then try again."
    busy = Refusal(
        429, error_body("rate_limit_exceeded", 971, sentence), JSON_HEADERS | {b"Retry-After": b"5"}
    )
    check = partial(_check_key, secret)
    limit = settings.API_MAX_BODY_MB * MEBIBYTE
    return LargeBody(secret, limit, CALLS_AT_ONCE, receiving.folder, large, busy, UNWRITABLE, check)


async def _check_key(secret: str) -> Refusal | None:
    if await run_in_db(ApiKey.objects.by_secret, secret):
        return None
    return Refusal(401, error_body("invalid_api_key", 10000, "This API key isn't valid."), JSON_HEADERS)


async def _check(session: str) -> Refusal | None:
    if await run_in_db(receiving.is_signed_in, session):
        return None
    body = error_body("signed_out", 10000, "You are signed out. Sign in to continue.")
    return Refusal(401, body, JSON_HEADERS)
