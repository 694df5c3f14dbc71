"""Requests to Cloudflare's API other than completions: token verification, feedback and lookups."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import httpx

from chat.upstream.errors import ErrorKind, UpstreamError, from_response
from chat.upstream.gateway_log import GatewayLogRef
from chat.upstream.http_transport import CONNECTION_ERRORS

from .ai_search import instance_path
from .workers_ai import Account

VERIFY_SECONDS = 5.0  # for both URLs together
TEST_SEARCH = "help"  # words of a search that only has to be allowed
API_TIMEOUT_SECONDS = 10.0  # for any other request
REFUSED_STATUSES = {400, 401, 403, 404}  # Cloudflare's responses to a token that it does not accept


class Cloudflare:
    """A client for an account's API; `http` must keep no cookies and follow no redirects."""

    def __init__(self, http: httpx.AsyncClient, account: Account) -> None:
        self._http = http
        self._account = account

    async def verify(self) -> bool | None:
        """Return True if the token, a user's or an account's, is accepted; None if it cannot be checked."""
        accepted: bool | None = False
        try:
            async with asyncio.timeout(VERIFY_SECONDS):
                for path in ("/user/tokens/verify", f"{self._account_path}/tokens/verify"):
                    accepted = await self._verify_at(path)
                    if accepted is not False:
                        break
        except CONNECTION_ERRORS:
            return None
        return accepted

    async def send_feedback(self, log_ref: GatewayLogRef, up: bool | None) -> None:
        """Store a user's rating of a reply in the gateway's log, or remove it if `up` is None.

        Raises UpstreamError.
        https://developers.cloudflare.com/ai-gateway/evaluations/add-human-feedback-api/
        """
        feedback = None if up is None else 1 if up else -1
        path = f"{self._account_path}/ai-gateway/gateways/{log_ref.gateway}/logs/{log_ref.log_id}"
        await self._call("PATCH", path, {"feedback": feedback})

    async def list_models(self) -> None:
        """Check that the token may list models. Raises UpstreamError if not."""
        await self._call("GET", f"{self._account_path}/ai/models/search?task=Text%20Generation&per_page=1")

    async def find_gateway(self, name: str) -> None:
        """Check that the gateway exists and the token may read it. Raises UpstreamError if not."""
        await self._call("GET", f"{self._account_path}/ai-gateway/gateways/{name}")

    async def search(self, model: str) -> None:
        """Search in the instance of AI Search that is a model, without a reply. Raises UpstreamError.

        https://developers.cloudflare.com/ai-search/api/search/rest-api/
        """
        options = {"retrieval": {"max_num_results": 1}}
        body = {"query": TEST_SEARCH, "ai_search_options": options}
        await self._call("POST", f"{instance_path(self._account, model)}/search", body)

    @property
    def _account_path(self) -> str:
        return f"/accounts/{self._account.account_id}"

    async def _verify_at(self, path: str) -> bool | None:
        response = await self._send("GET", path)
        if not response.is_success:
            return False if response.status_code in REFUSED_STATUSES else None
        try:
            return bool(response.json()["result"]["status"] == "active")
        except (ValueError, LookupError, TypeError):
            return None  # not Cloudflare's API

    async def _call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return await checked_response(self._send(method, path, body))

    async def _send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._account.token}"}
        return await self._http.request(method, self._account.base_url + path, headers=headers, json=body)


async def checked_response(call: Awaitable[httpx.Response]) -> httpx.Response:
    """Await a response and return it if its status is 2xx. Raises UpstreamError otherwise."""
    try:
        async with asyncio.timeout(API_TIMEOUT_SECONDS):
            response = await call
    except CONNECTION_ERRORS as error:
        # Only the exception's name, because its text can contain the URL.
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail=type(error).__name__) from None
    if not response.is_success:
        raise from_response(response.status_code, response.headers, response.content)
    return response
