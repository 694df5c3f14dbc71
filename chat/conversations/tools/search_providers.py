"""The services that search the web.

- Cloudflare's Web Search API, through an AI Gateway of the account:
  https://developers.cloudflare.com/web-search/how-to-use/
- the Brave Search API: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
- an instance of SearXNG, whose setting `search.formats` must list json:
  https://docs.searxng.org/dev/search_api.html
"""

from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings

from chat.catalog import config
from chat.upstream.client import Account
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.upstream.providers.openai_compatible import DEFAULT_GATEWAY

from . import registry
from .service import fetch_json
from .tool import Source
from .web_search import MAX_RESULTS, SearchProvider, sources

ENGINE = "ceramic"  # of Cloudflare's three the cheapest, by twenty times
BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"
WRONG_KEY_STATUS = 422  # of Brave
MAX_WORDS = 50  # of a query to Brave


def provider(name: str) -> SearchProvider:
    makers: dict[str, Callable[[], SearchProvider]] = {"searxng": SearXNG, "brave": Brave}
    return makers.get(name, CloudflareSearch)()


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
            registry.learn_from_search(account, error)
            raise
        registry.learn_from_search(account, None)
        items = told.get("items") if isinstance(told, dict) else None
        return sources(items, "title", "url", "description", "lastModifiedDate")


class Brave:
    max_query_characters = 400
    cost = None  # by the plan

    async def search(self, query: str) -> list[Source]:
        words = " ".join(query.split()[:MAX_WORDS])
        asked = urlencode({"q": words, "count": MAX_RESULTS, "text_decorations": "false"})
        headers = {"X-Subscription-Token": settings.BRAVE_API_KEY}
        try:
            told = await fetch_json("GET", f"{BRAVE_URL}?{asked}", headers)
        except UpstreamError as error:
            error.kind = ErrorKind.AUTH if error.status == WRONG_KEY_STATUS else error.kind
            raise
        web = told.get("web") if isinstance(told, dict) else None
        results = web.get("results") if isinstance(web, dict) else None
        return sources(results, "title", "url", "description", "page_age")


class SearXNG:
    max_query_characters = 1_000
    cost = 0.0

    async def search(self, query: str) -> list[Source]:
        asked = urlencode({"q": query, "format": "json"})
        told = await fetch_json("GET", f"{settings.SEARXNG_URL}/search?{asked}", {})
        results = told.get("results") if isinstance(told, dict) else None
        return sources(results, "title", "url", "content", "publishedDate")
