"""A request for JSON to a service that a setting names. Each call has a connection of its own."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any

import aiohttp
import httpx

from chat.upstream.errors import ErrorKind, UpstreamError, from_payload, from_response

MAX_BYTES = 2_000_000
SECONDS = 15.0
HEADERS = {"Accept": "application/json", "User-Agent": "chat"}


@cache
def tls() -> ssl.SSLContext:
    """Return what checks certificates. Making it takes 35 ms, the first time."""
    return httpx.create_ssl_context(trust_env=False)


async def fetch_json(
    method: str,
    url: str,
    headers: Mapping[str, str],
    *,
    from_cloudflare: bool = False,
    body: Mapping[str, Any] | None = None,
) -> Any:
    """Return the JSON of the answer. Raises UpstreamError, without words of the request."""
    return (await fetch(method, url, headers, from_cloudflare=from_cloudflare, body=body))[0]


async def fetch(
    method: str,
    url: str,
    headers: Mapping[str, str],
    *,
    from_cloudflare: bool = False,
    body: Mapping[str, Any] | None = None,
    max_bytes: int = MAX_BYTES,
) -> tuple[Any, Mapping[str, str]]:
    """Return the JSON and the headers of the answer. Raises UpstreamError, without words of the request."""
    connector = aiohttp.TCPConnector(ssl=await asyncio.to_thread(tls), force_close=True)
    cookies = aiohttp.DummyCookieJar()
    try:
        async with (
            asyncio.timeout(SECONDS),
            aiohttp.ClientSession(connector=connector, cookie_jar=cookies, trust_env=False) as session,
            session.request(
                method, url, headers={**HEADERS, **headers}, json=body, allow_redirects=False
            ) as response,
        ):
            content = await _content(response, max_bytes)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail=type(error).__name__) from None
    if not 200 <= response.status < 300:
        raise from_response(response.status, response.headers, content, from_cloudflare=from_cloudflare)
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail="The response is not JSON.") from None
    if isinstance(told, dict) and told.get("success") is False:
        raise from_payload(told, from_cloudflare=from_cloudflare)
    return told, response.headers


async def _content(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    content = bytearray()
    async for piece in response.content.iter_chunked(65_536):
        content += piece
        if len(content) > max_bytes:
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="The response is too long.")
    return bytes(content)
