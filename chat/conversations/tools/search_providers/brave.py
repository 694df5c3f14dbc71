"""The Brave Search API.

https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
"""

from urllib.parse import urlencode

from django.conf import settings

from chat.conversations.tools.service import fetch_json
from chat.conversations.tools.tool import Source
from chat.conversations.tools.web_search import MAX_RESULTS, sources
from chat.upstream.errors import ErrorKind, UpstreamError

URL = "https://api.search.brave.com/res/v1/web/search"
WRONG_KEY_STATUS = 422
MAX_WORDS = 50  # of a query


class Brave:
    max_query_characters = 400
    cost = None  # by the plan

    async def search(self, query: str) -> list[Source]:
        words = " ".join(query.split()[:MAX_WORDS])
        asked = urlencode({"q": words, "count": MAX_RESULTS, "text_decorations": "false"})
        headers = {"X-Subscription-Token": settings.BRAVE_API_KEY}
        try:
            told = await fetch_json("GET", f"{URL}?{asked}", headers)
        except UpstreamError as error:
            error.kind = ErrorKind.AUTH if error.status == WRONG_KEY_STATUS else error.kind
            raise
        web = told.get("web") if isinstance(told, dict) else None
        results = web.get("results") if isinstance(web, dict) else None
        return sources(results, "title", "url", "description", "page_age")
