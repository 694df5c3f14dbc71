"""Requests to Cloudflare's API other than completions: token, feedback, documents, embeddings, lookups."""

import asyncio
import json
import math
from collections.abc import Sequence
from typing import Any

import httpx

from chat.upstream.errors import ErrorKind, UpstreamError, from_payload, from_response
from chat.upstream.http_transport import CONNECTION_ERRORS
from chat.upstream.providers.ai_gateway import GatewayLogRef

from .ai_search import instance_path
from .workers_ai import Account

VERIFY_SECONDS = 5.0  # for both URLs together
TEST_SEARCH = "help"  # words of a search that only has to be allowed
API_TIMEOUT_SECONDS = 10.0  # for any other request
MAX_RESPONSE_BYTES = 4 * 1_048_576  # of a page of the list of models; a record has about 2,000
REFUSED_STATUSES = {400, 401, 403, 404}  # Cloudflare's responses to a token that it does not accept
CONVERSION_TIMEOUT_SECONDS = 60.0
MAX_CONVERTED_BYTES = 50_000_000  # Cloudflare publishes no number
MAX_MARKDOWN_RESPONSE_BYTES = 20_000_000
EMBEDDINGS_TIMEOUT_SECONDS = 30.0
MAX_TEXTS = 32  # of one request for embeddings; Cloudflare takes 100
MAX_DIMENSIONS = 4_096
MAX_EMBEDDINGS_RESPONSE_BYTES = 32 * 4_096 * 30

Vector = list[float]


class Cloudflare:
    """A client for an account's API; `http` must keep no cookies and follow no redirects."""

    def __init__(self, http: httpx.AsyncClient, account: Account) -> None:
        self._http = http
        self._account = account
        self.path = f"/accounts/{account.account_id}"

    async def verify(self) -> bool | None:
        """Return True if the token, a user's or an account's, is accepted; None if it cannot be checked."""
        accepted: bool | None = False
        try:
            async with asyncio.timeout(VERIFY_SECONDS):
                for path in ("/user/tokens/verify", f"{self.path}/tokens/verify"):
                    accepted = await self._verify_at(path)
                    if accepted is not False:
                        break
        except TimeoutError:
            return None
        return accepted

    async def send_feedback(self, log_ref: GatewayLogRef, up: bool | None) -> None:
        """Store a user's rating of a reply in the gateway's log, or remove it if `up` is None.

        Raises UpstreamError.
        https://developers.cloudflare.com/ai-gateway/evaluations/add-human-feedback-api/
        """
        feedback = None if up is None else 1 if up else -1
        path = f"{self.path}/ai-gateway/gateways/{log_ref.gateway}/logs/{log_ref.log_id}"
        await self._call("PATCH", path, json={"feedback": feedback})

    async def list_models(self) -> None:
        """Check that the token may list models. Raises UpstreamError if not."""
        await self._call("GET", f"{self.path}/ai/models/search?task=Text%20Generation&per_page=1")

    async def find_gateway(self, name: str) -> None:
        """Check that the gateway exists and the token may read it. Raises UpstreamError if not."""
        await self._call("GET", f"{self.path}/ai-gateway/gateways/{name}")

    async def search(self, model: str) -> None:
        """Search in the instance of AI Search that is a model, without a reply. Raises UpstreamError.

        https://developers.cloudflare.com/ai-search/api/search/rest-api/
        """
        body = {"query": TEST_SEARCH, "ai_search_options": {"retrieval": {"max_num_results": 1}}}
        await self._call("POST", f"{instance_path(self._account, model)}/search", json=body)

    async def convert_to_markdown(self, extension: str, media_type: str, content: bytes) -> str:
        """Return the document as Markdown. Its name stays here: Cloudflare is told the extension alone.

        Raises UpstreamError: of the kind INVALID if Cloudflare cannot convert this document, TOO_LONG if it
        or its Markdown is too large. With status 200, a file may still have failed.
        https://developers.cloudflare.com/workers-ai/features/markdown-conversion/usage/rest-api/
        """
        if len(content) > MAX_CONVERTED_BYTES:
            raise UpstreamError(ErrorKind.TOO_LONG, detail="The document is too large to be sent.")
        payload = await self.json(
            "POST",
            f"{self.path}/ai/tomarkdown",
            seconds=CONVERSION_TIMEOUT_SECONDS,
            max_bytes=MAX_MARKDOWN_RESPONSE_BYTES,
            too_long=ErrorKind.TOO_LONG,
            files={"files": (f"document.{extension}", content, media_type)},
        )
        result = payload.get("result") if isinstance(payload, dict) else None
        match result[0] if isinstance(result, list) and result else result:
            case {"format": "error", **rest}:
                raise UpstreamError(ErrorKind.INVALID, detail=str(rest.get("error", "")))
            case {"data": str(markdown)}:
                return markdown
        raise unusable("The response holds no Markdown.")

    async def embed(self, model: str, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, all of the same length. Raises UpstreamError.

        https://developers.cloudflare.com/workers-ai/models/bge-m3/
        """
        body = await self._call(
            "POST",
            f"{self.path}/ai/run/{model}",
            seconds=EMBEDDINGS_TIMEOUT_SECONDS,
            max_bytes=MAX_EMBEDDINGS_RESPONSE_BYTES,
            json={"text": list(texts)},
        )
        return await asyncio.to_thread(_vectors, body, len(texts))  # half a megabyte of JSON

    async def json(self, method: str, path: str, **options: Any) -> Any:
        """Return the JSON of a response; `options` are those of `checked_body`. Raises UpstreamError."""
        return _parsed(await self._call(method, path, **options))

    async def _verify_at(self, path: str) -> bool | None:
        try:
            payload = await self.json("GET", path)
            return bool(payload["result"]["status"] == "active")
        except UpstreamError as error:
            return False if error.status in REFUSED_STATUSES else None
        except (LookupError, TypeError):
            return None  # not Cloudflare's API

    async def _call(self, method: str, path: str, **options: Any) -> bytes:
        headers = {"Authorization": f"Bearer {self._account.token}", "Accept": "application/json"}
        return await checked_body(self._http, method, self._account.base_url + path, headers, **options)


async def checked_body(
    http: httpx.AsyncClient,
    method: str,
    url: str,
    headers: dict[str, str],
    *,
    seconds: float = API_TIMEOUT_SECONDS,
    max_bytes: int = MAX_RESPONSE_BYTES,
    too_long: ErrorKind = ErrorKind.UNAVAILABLE,
    **content: Any,
) -> bytes:
    """Return the body of a response whose status is 2xx, read within a time and a size.

    `content`: arguments of httpx. Raises UpstreamError, of the kind `too_long` for more than `max_bytes`.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(seconds), http.stream(method, url, headers=headers, **content) as response:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > max_bytes:
                    raise UpstreamError(too_long, detail="The response is too long.")
    except CONNECTION_ERRORS as error:
        # Only the exception's name, because its text can contain the URL.
        raise unusable(type(error).__name__) from None
    if not response.is_success:
        raise from_response(response.status_code, response.headers, bytes(body))
    return bytes(body)


def unusable(detail: str) -> UpstreamError:
    return UpstreamError(ErrorKind.UNAVAILABLE, detail=detail)


def _parsed(body: bytes) -> Any:
    """Return the JSON of a body. Raises UpstreamError if it is none, or says that the request has failed."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        raise unusable("The response is not JSON.") from None
    if isinstance(payload, dict) and payload.get("success") is False:
        raise from_payload(payload)
    return payload


def _vectors(body: bytes, count: int) -> list[Vector]:
    match _parsed(body):
        case {"result": {"data": [*vectors]}} if len(vectors) == count and _are_vectors(vectors):
            return vectors
    raise unusable("The response holds no embeddings.")


def _are_vectors(vectors: list[Any]) -> bool:
    """Return True if all are of one length and hold finite numbers."""
    if not all(isinstance(each, list) for each in vectors):
        return False
    lengths = {len(each) for each in vectors}
    if len(lengths) != 1 or not 0 < lengths.pop() <= MAX_DIMENSIONS:
        return False
    return all(isinstance(value, int | float) and math.isfinite(value) for each in vectors for value in each)
