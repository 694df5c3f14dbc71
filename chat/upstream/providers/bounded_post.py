"""A POST to Cloudflare whose response is read whole, within a time and a size."""

import asyncio
from typing import Any

import httpx

from chat.upstream.errors import ErrorKind, UpstreamError, from_response
from chat.upstream.http_transport import CONNECTION_ERRORS

from .workers_ai import Account


async def post(
    http: httpx.AsyncClient,
    account: Account,
    path: str,
    *,
    seconds: float,
    max_bytes: int,
    too_long: UpstreamError,
    **content: Any,
) -> bytes:
    """Return the body of the response. `path` is below the account's, `content` an argument of httpx.

    Raises UpstreamError, which is `too_long` for a body of more than `max_bytes`.
    """
    url = f"{account.base_url}/accounts/{account.account_id}{path}"
    headers = {"Authorization": f"Bearer {account.token}", "Accept": "application/json"}
    try:
        async with (
            asyncio.timeout(seconds),
            http.stream("POST", url, headers=headers, **content) as response,
        ):
            body = await _read(response, max_bytes)
    except TimeoutError as error:
        raise UpstreamError(ErrorKind.TIMEOUT, detail=type(error).__name__) from None
    except CONNECTION_ERRORS as error:
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail=type(error).__name__) from None
    if body is None:
        raise too_long
    if not response.is_success:
        raise from_response(response.status_code, response.headers, body)
    return body


async def _read(response: httpx.Response, max_bytes: int) -> bytes | None:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > max_bytes:
            return None
    return bytes(body)
