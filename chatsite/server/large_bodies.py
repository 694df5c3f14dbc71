"""The requests whose bodies may be larger than 1 MiB: files, imports and API calls.

Such a body arrives in a file, which `chatsite.asgi` gives to Django as the body.
"""

import re
from collections.abc import Awaitable, Callable, Hashable
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
from chat.transfer import import_files
from chatsite.server.early_errors import UNWRITABLE, Refusal, refusal

CALLS_AT_ONCE = 4  # of one API key
API_PATHS = re.compile(
    rb"(/v1|/client/v4/accounts/[^/?]+/ai/v1)/chat/completions/?(\?|$)|/client/v4/accounts/[^/?]+/ai/run\b"
)
FILES_AT_ONCE = 8  # of one session


class LargeBody(NamedTuple):
    """The limits of such a body: `limit` in bytes, and `at_once` from the same `sender`.

    `unwritable` refuses what the disk does not take. `check` returns a refusal for a sender who turns out to
    be nobody, while the body arrives.
    """

    sender: Hashable
    limit: int
    at_once: int
    folder: Callable[[], Path]
    too_large: Refusal
    busy: Refusal
    unwritable: Refusal = UNWRITABLE
    check: Callable[[], Awaitable[Refusal | None]] | None = None


def allowed(uri: bytes, headers: Any, length: int) -> LargeBody | None:
    """Return what is allowed of a POST whose body may be large, otherwise None.

    `headers` are Twisted's, `length` is 0 if it is not known. No database query: this runs on the event loop
    before the body is read.
    """
    if upload := import_files.body_limit(uri):
        return _import(*upload)
    is_small = 0 < length <= MAX_BODY_BYTES
    if not is_small and API_PATHS.match(uri):
        return _call(headers.getRawHeaders(b"authorization", [b""])[0].decode("latin-1"))
    if is_small and uri.partition(b"?")[0] != reverse(receiving.UPLOAD_VIEW).encode():
        return None  # not large; the limits of uploads hold for small ones as well
    session = receiving.session_of(headers.getRawHeaders(b"cookie", []))
    limit = receiving.body_limit(uri, headers.getRawHeaders(b"content-type", [b""])[0])
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
    return LargeBody(person, limit, 1, import_files.folder, large, busy, full)


def _attachments(session: str, limit: int, *, is_page: bool) -> LargeBody:
    """`is_page`: the form of a page without scripts, whose browser would show JSON as it is."""
    megabytes = f"{settings.ATTACHMENT_MAX_BYTES / 1_000_000:g}"
    sentence = f"This file is larger than {megabytes} MB. Make it smaller, then add it again."
    large = refusal(413, "attachment_too_large", 3006, sentence)
    if is_page:
        sentence = (
            f"The files are larger than {megabytes} MB together. Go back and send fewer or smaller files."
        )
        large = Refusal(413, sentence.encode(), {b"Content-Type": b"text/plain; charset=utf-8"})
    sentence = "Too many files are arriving at once. Wait a moment, then add this one again."
    busy = refusal(429, "throttled", 3040, sentence, retry_after=5)
    nobody = refusal(401, "signed_out", 10000, "You are signed out. Sign in to continue.")
    check = partial(_refuse_unless, receiving.is_signed_in, session, nobody)
    return LargeBody(session, limit, FILES_AT_ONCE, receiving.folder, large, busy, check=check)


def _call(authorization: str) -> LargeBody | None:
    """Allow an API call with a long text or with files, if it names a key."""
    secret = secret_of(authorization)
    if not secret:
        return None
    limit = settings.API_MAX_BODY_MB
    large = refusal(413, "too_long", 3006, f"The request is larger than {limit} MiB. Send less.")
    sentence = "Too many large requests are arriving at once. Wait a moment, then try again."
    busy = refusal(429, "rate_limit_exceeded", 971, sentence, retry_after=5)
    nobody = refusal(401, "invalid_api_key", 10000, "This API key isn't valid.")
    check = partial(_refuse_unless, ApiKey.objects.by_secret, secret, nobody)
    folder = receiving.folder
    return LargeBody(secret, limit * MEBIBYTE, CALLS_AT_ONCE, folder, large, busy, check=check)


async def _refuse_unless(known: Callable[[str], Any], secret: str, nobody: Refusal) -> Refusal | None:
    return None if await run_in_db(known, secret) else nobody
