"""Embeddings of texts by a model of the account.

`POST /accounts/<id>/ai/run/<model>` with `{"text": [...]}`.
https://developers.cloudflare.com/workers-ai/models/bge-m3/
"""

import asyncio
import json
import math
from collections.abc import Sequence
from typing import Any

import httpx

from chat.upstream.errors import ErrorKind, UpstreamError, from_payload

from .bounded_post import post
from .workers_ai import Account

EMBEDDINGS_TIMEOUT_SECONDS = 30.0
MAX_TEXTS = 32  # of one request; Cloudflare takes 100
MAX_DIMENSIONS = 4_096
MAX_EMBEDDINGS_RESPONSE_BYTES = 32 * 4_096 * 30

Vector = list[float]


async def embed(http: httpx.AsyncClient, account: Account, model: str, texts: Sequence[str]) -> list[Vector]:
    """Return a vector for each text. `texts`: 1 to MAX_TEXTS, none of them blank. Raises UpstreamError."""
    body = await post(
        http,
        account,
        f"/ai/run/{model}",
        seconds=EMBEDDINGS_TIMEOUT_SECONDS,
        max_bytes=MAX_EMBEDDINGS_RESPONSE_BYTES,
        too_long=_unusable("The response is too long."),
        json={"text": list(texts)},
    )
    return await asyncio.to_thread(_vectors, body, len(texts))  # half a megabyte of JSON


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
