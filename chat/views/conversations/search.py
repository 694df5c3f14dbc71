"""Search of the person's own conversations: the page, the dialog of the chat page, and JSON."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.exceptions import BadRequest
from chat.search.query import MAX_QUERY_CHARS, parse
from chat.search.results import Cursor, Result, Results, Snippet, search

from ..requests import access
from ..requests.errors import is_part, wants_json
from ..requests.responses import message_url
from . import conversation_pages
from .conversation_pages import LIST_PAGES


@access.require_methods("GET", "HEAD")
def find(request: HttpRequest) -> HttpResponse:
    """Return a page of results. For the chat page's own script, return the empty dialog as HTML."""
    user = access.get_user(request)
    if is_part(request) and "text/html" in request.headers.get("Accept", ""):
        return render(request, "chat/_search_dialog.html", {"longest": MAX_QUERY_CHARS})
    typed = request.GET.get("q", "")
    results = search(user.pk, parse(typed, timezone_of(request)), _cursor(request))
    response = JsonResponse(_json(results)) if wants_json(request) else _page(request, typed, results)
    patch_vary_headers(response, ["Accept"])
    return response


def _cursor(request: HttpRequest) -> Cursor | None:
    cursor = request.GET.get("cursor")
    try:
        return Cursor.parse(cursor) if cursor else None
    except ValueError as error:
        raise BadRequest(_("“cursor” must be the “next” of an earlier page.")) from error


def _json(results: Results) -> dict[str, Any]:
    return {
        "results": [_json_result(each) for each in results.results],
        "next": None if results.next is None else str(results.next),
        "building": results.building,
    }


def _json_result(result: Result) -> dict[str, Any]:
    """Return a result as JSON. `marks`: (start, end) of each match in the snippet, in code points."""
    return {
        "conversation": str(result.conversation),
        "message": str(result.message) if result.message else None,
        "title": result.title,
        "snippet": result.snippet.text,
        "marks": result.snippet.marks,
        "at": result.at.isoformat(),
        "url": _url(result),
    }


def _url(result: Result) -> str:
    if result.message:
        return message_url(result.conversation, result.message)
    return reverse("chat:conversation", args=[result.conversation])


def _page(request: HttpRequest, typed: str, results: Results) -> HttpResponse:
    zone = timezone_of(request)
    context = {
        "typed": typed[:MAX_QUERY_CHARS],
        "longest": MAX_QUERY_CHARS,
        "results": [
            {"result": each, "url": _url(each), "pieces": list(_pieces(each.snippet))}
            for each in results.results
        ],
        "further": urlencode({"q": typed, "cursor": results.next}) if results.next else "",
        "building": results.building,
        "section": "search",
        "sections": [(each.name, reverse(f"chat:{each.name}"), each.heading) for each in LIST_PAGES],
        "listing": conversation_pages.sidebar(access.get_user(request), zone),
    }
    with timezone.override(zone):
        return render(request, "chat/search.html", context)


def _pieces(snippet: Snippet) -> Iterator[tuple[str, bool]]:
    """Yield (text, is it a match) of each piece of the snippet."""
    end = 0
    for start, stop in snippet.marks:
        yield snippet.text[end:start], False
        yield snippet.text[start:stop], True
        end = stop
    yield snippet.text[end:], False
