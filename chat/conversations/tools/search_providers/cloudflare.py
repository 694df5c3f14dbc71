"""Cloudflare's Web Search API, through an AI Gateway of the account.

https://developers.cloudflare.com/web-search/how-to-use/
"""

from chat.catalog import config
from chat.conversations.tools import permission
from chat.conversations.tools.service import fetch_json
from chat.conversations.tools.tool import Source
from chat.conversations.tools.web_search import MAX_RESULTS, sources
from chat.upstream.client import Account
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.openai_compatible import DEFAULT_GATEWAY

ENGINE = "ceramic"  # the cheapest of three, by twenty times


class CloudflareSearch:
    max_query_characters = 1_024
    cost = 0.25 / 1_000

    def __init__(self, account: Account | None = None) -> None:
        """`account`: another one than the site uses."""
        self._account = account

    async def search(self, query: str) -> list[Source]:
        account = self._account or config.account()
        if account is None:  # disconnected since the run has begun
            raise UpstreamError(ErrorKind.UNAVAILABLE, detail="no account is connected")
        body = {
            "query": query,
            "provider": ENGINE,
            "limit": MAX_RESULTS,
            "options": {"gateway": {"id": config.gateway_name() or DEFAULT_GATEWAY.id}},
        }
        url = f"{account.base_url}/accounts/{account.account_id}/ai/websearch/"
        headers = {"Authorization": f"Bearer {account.token}"}
        try:
            told = await fetch_json("POST", url, headers, from_cloudflare=True, body=body)
        except UpstreamError as error:
            permission.learn(account, error)
            raise
        permission.learn(account, None)
        items = told.get("items") if isinstance(told, dict) else None
        return sources(items, "title", "url", "description", "lastModifiedDate")
