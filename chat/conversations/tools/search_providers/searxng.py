"""An instance of SearXNG, whose setting `search.formats` must list json.

https://docs.searxng.org/dev/search_api.html
"""

from urllib.parse import urlencode

from django.conf import settings

from chat.conversations.tools.service import fetch_json
from chat.conversations.tools.tool import Source
from chat.conversations.tools.web_search import sources


class SearXNG:
    max_query_characters = 1_000
    cost = 0.0

    async def search(self, query: str) -> list[Source]:
        asked = urlencode({"q": query, "format": "json"})
        told = await fetch_json("GET", f"{settings.SEARXNG_URL}/search?{asked}", {})
        results = told.get("results") if isinstance(told, dict) else None
        return sources(results, "title", "url", "content", "publishedDate")
