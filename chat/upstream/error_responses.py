"""The errors of responses: those with an error status, and frames that say that the reply has failed."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import httpx

from chat.wire.frames import FrameError

from .errors import ErrorKind, UpstreamError, from_payload, from_response
from .http_transport import CONNECTION_ERRORS

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
