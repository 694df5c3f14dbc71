"""Embeddings of texts by a model of the account.

`POST /accounts/<id>/ai/run/<model>` with `{"text": [...]}`.
https://developers.cloudflare.com/workers-ai/models/bge-m3/
"""

import asyncio
import json
import math
from collections.abc import Sequence
from typing import Any

import aiohttp
import httpx

from chat.upstream.errors import ErrorKind, UpstreamError, from_payload, from_response

from .workers_ai import Account

TIMEOUT_SECONDS = 30.0
MAX_TEXTS = 32  # of one request; Cloudflare takes 100
MAX_DIMENSIONS = 4_096
MAX_RESPONSE_BYTES = 32 * 4_096 * 30

Vector = list[float]


async def embed(http: httpx.AsyncClient, account: Account, model: str, texts: Sequence[str]) -> list[Vector]:
    """Return a vector for each text. `texts`: 1 to MAX_TEXTS, none of them blank. Raises UpstreamError."""
    url = f"{account.base_url}/accounts/{account.account_id}/ai/run/{model}"
    headers = {"Authorization": f"Bearer {account.token}", "Accept": "application/json"}
    try:
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            http.stream("POST", url, headers=headers, json={"text": list(texts)}) as answer,
        ):
            body = await _read(answer)
    except TimeoutError as error:
        raise UpstreamError(ErrorKind.TIMEOUT, detail=type(error).__name__) from None
    except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail=type(error).__name__) from None
    if not answer.is_success:
        raise from_response(answer.status_code, answer.headers, body)
    return await asyncio.to_thread(_vectors, body, len(texts))  # half a megabyte of JSON


async def _read(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > MAX_RESPONSE_BYTES:
            raise _unusable("The response is too long.")
    return bytes(body)


def _vectors(body: bytes, count: int) -> list[Vector]:
    try:
        payload: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise _unusable("The response is not JSON.") from None
    if isinstance(payload, dict) and payload.get("success") is False:
        raise from_payload(payload)
    match payload:
        case {"result": {"data": [*vectors]}} if len(vectors) == count and _are_vectors(vectors):
            return vectors
    raise _unusable("The response holds no embeddings.")


def _are_vectors(vectors: list[Any]) -> bool:
    """Return True if all are of one length and hold finite numbers."""
    if not all(isinstance(each, list) for each in vectors):
        return False
    lengths = {len(each) for each in vectors}
    if len(lengths) != 1 or not 0 < lengths.pop() <= MAX_DIMENSIONS:
        return False
    return all(isinstance(value, int | float) and math.isfinite(value) for each in vectors for value in each)


def _unusable(detail: str) -> UpstreamError:
    return UpstreamError(ErrorKind.UNAVAILABLE, detail=detail)
