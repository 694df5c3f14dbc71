"""Cloudflare's conversion of documents to Markdown, for the types that this site cannot read itself.

`POST /accounts/<id>/ai/tomarkdown`, a form with the field `files`. With status 200, a file may still have
failed.
https://developers.cloudflare.com/workers-ai/features/markdown-conversion/usage/rest-api/
"""

import json
from typing import Any

import httpx

from chat.upstream.errors import ErrorKind, UpstreamError, from_payload

from .bounded_post import post
from .workers_ai import Account

CONVERSION_TIMEOUT_SECONDS = 60.0
MAX_CONVERTED_BYTES = 50_000_000  # Cloudflare publishes no number
MAX_MARKDOWN_RESPONSE_BYTES = 20_000_000


async def convert(
    http: httpx.AsyncClient, account: Account, extension: str, media_type: str, content: bytes
) -> str:
    """Return the document as Markdown. Its name stays here: Cloudflare is told the extension alone.

    Raises UpstreamError: of the kind INVALID if Cloudflare cannot convert this document, TOO_LONG if it or
    its Markdown is too large.
    """
    if len(content) > MAX_CONVERTED_BYTES:
        raise UpstreamError(ErrorKind.TOO_LONG, detail="The document is too large to be sent.")
    body = await post(
        http,
        account,
        "/ai/tomarkdown",
        seconds=CONVERSION_TIMEOUT_SECONDS,
        max_bytes=MAX_MARKDOWN_RESPONSE_BYTES,
        too_long=UpstreamError(ErrorKind.TOO_LONG, detail="The Markdown is too long."),
        files={"files": (f"document.{extension}", content, media_type)},
    )
    return _markdown(body)


def _markdown(body: bytes) -> str:
    try:
        payload: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail="The response is not JSON.") from None
    if isinstance(payload, dict) and payload.get("success") is False:
        raise from_payload(payload)
    result = payload.get("result") if isinstance(payload, dict) else None
    match result[0] if isinstance(result, list) and result else result:
        case {"format": "error", **rest}:
            raise UpstreamError(ErrorKind.INVALID, detail=str(rest.get("error", "")))
        case {"data": str(markdown)}:
            return markdown
    raise UpstreamError(ErrorKind.UNAVAILABLE, detail="The response holds no Markdown.")
