"""Cloudflare's Web Search API of the fake: what it finds, and what Cloudflare refuses.

A query that holds `fake: error 2021` is answered with that error, `fake: nothing` finds nothing, and
`fake: slow` is answered after a minute.
https://developers.cloudflare.com/web-search/how-to-use/
"""

import re
from typing import Any

from tests.fake_cloudflare.errors import error

Response = tuple[int, object]
PATH = re.compile(r"/client/v4/accounts/[^/]+/ai/websearch/")
NO_PERMISSION = "fake-token-without-gateway"  # a token for Workers AI alone
NO_CREDITS = "no-credits"  # a gateway of an account without any
PROVIDERS = {"ceramic", "exa", "linkup"}
FIELDS = {"query", "provider", "limit", "byokAlias", "options"}
MAX_QUERY, MAX_LIMIT = 1_024, 10
WANTED_ERROR = re.compile(r"fake: error (\d+)")
FOUND = [
    {
        "url": "https://blog.example/october",
        "title": "What was new in October",
        "description": "Web Search is in beta.\n\nIt has three providers.",
        "faviconUrl": "https://blog.example/favicon.ico",
        "lastModifiedDate": "2026-10-02T10:00:00Z",
    },
    {"url": "https://docs.example/web-search/", "title": "Web Search"},
    {"url": "javascript:alert(1)", "title": "<script>alert(1)</script>", "description": "No page."},
]


def web_search(token: str, body: object) -> Response:
    """Return the status and the body of the response. Who may not search is told so before what is wrong."""
    if token == NO_PERMISSION:
        return error(10000, 403)
    if not isinstance(body, dict):
        return _invalid("body")
    if wrong := _wrong_field(body):
        return _invalid(wrong)
    gateway = body["options"]["gateway"]["id"]
    if gateway == "no-such-gateway":
        return error(2001)
    if gateway == NO_CREDITS:
        return error(2021)
    if body.get("byokAlias"):
        return error(2040)
    if found := WANTED_ERROR.search(body["query"]):
        return error(int(found[1]))
    items = [] if "fake: nothing" in body["query"] else FOUND[: body.get("limit", MAX_LIMIT)]
    metadata = {"query": body["query"], "requestId": "9f2c3a", "latencyMs": 612}
    return 200, {"items": items, "metadata": metadata}


def _wrong_field(body: dict[str, Any]) -> str:
    """Return the name of the first field that is wrong; "" if none is."""
    query, limit, options = body.get("query"), body.get("limit", MAX_LIMIT), body.get("options")
    gateway = options.get("gateway") if isinstance(options, dict) else None
    named = gateway.get("id") if isinstance(gateway, dict) else None
    if unknown := body.keys() - FIELDS:
        return min(unknown)
    if not isinstance(query, str) or not 1 <= len(query) <= MAX_QUERY:
        return "query"
    if body.get("provider", "ceramic") not in PROVIDERS:
        return "provider"
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_LIMIT:
        return "limit"
    return "" if isinstance(named, str) and named else "options"


def _invalid(field: str) -> Response:
    return error(7001, 400, f"Input Validation Error: {field}")
