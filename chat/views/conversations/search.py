"""Search of the person's own conversations: the page, the dialog of the chat page, and JSON."""

from datetime import datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from chat.accounts.timezones import timezone_of
from chat.exceptions import BadRequest
from chat.models import Conversation
from chat.search.query import MAX_QUERY_CHARS, parse
from chat.search.results import Cursor, Result, Results, search, search_in

from ..requests import access
from ..requests.request_fields import is_part, wants_json
from ..requests.responses import message_url
from .conversation_pages import LIST_PAGES
from .sidebar import sidebar

WEEK = timedelta(days=7)


@access.require_methods("GET", "HEAD")
def find(request: HttpRequest) -> HttpResponse:
    """Return a page of results: of all conversations, or of the one that `chat` names.

    For the chat page's own script, return the empty dialog as HTML.
    """
    user = access.get_user(request)
    if is_part(request) and "text/html" in request.headers.get("Accept", ""):
        return render(request, "chat/_search_dialog.html", {"longest": MAX_QUERY_CHARS})
    typed, zone = request.GET.get("q", ""), timezone_of(request)
    query, cursor = parse(typed, zone), _cursor(request)
    within = access.row_from_query(request, "chat", Conversation.objects.owned_by(user))
    if within:
        results = search_in(user.pk, query, within.pk, cursor)
    else:
        results = search(user.pk, query, cursor)
    if wants_json(request):
        response: HttpResponse = JsonResponse(_json(results, typed, zone))
    else:
        response = _page(request, typed, results, within)
    patch_vary_headers(response, ["Accept"])
    return response


def _cursor(request: HttpRequest) -> Cursor | None:
    cursor = request.GET.get("cursor")
    try:
        return Cursor.parse(cursor) if cursor else None
    except ValueError as error:
        raise BadRequest(_("“cursor” must be the “next” of an earlier page.")) from error


def _json(results: Results, typed: str, zone: tzinfo) -> dict[str, Any]:
    return {
        "results": [_json_result(each, typed, zone) for each in results.results],
        "next": None if results.next is None else str(results.next),
        "building": results.building,
    }


def _json_result(result: Result, typed: str, zone: tzinfo) -> dict[str, Any]:
    """Return a result as JSON.

    `marks` and `title_marks`: (start, end) of each match in the snippet and the title, in code points. `day`,
    `more`: texts for people.
    """
    return {
        "conversation": str(result.conversation),
        "message": str(result.message) if result.message else None,
        "title": result.title.text,
        "title_marks": result.title.marks,
        "snippet": result.snippet.text,
        "marks": result.snippet.marks,
        "at": result.at.isoformat(),
        "day": _day(result.at, zone),
        "url": _url(result),
        "more": _more(result),
        "more_url": _more_url(result, typed) if result.more else None,
    }


def _day(at: datetime, zone: tzinfo) -> str:
    """Return Today, Yesterday, Tuesday, 26 Nov or 26 Nov 2024: as short as the day can be named in `zone`."""
    day, today = at.astimezone(zone).date(), timezone.now().astimezone(zone).date()
    if day >= today:  # a future day, from a wrong clock, counts as today
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if day > today - WEEK:
        return capfirst(date_format(day, "l"))
    # Translators: the formats of a short date such as 26 Nov, for Django's template filter "date".
    if day.year == today.year:
        return date_format(day, pgettext("date format", "j M"))
    return date_format(day, pgettext("date format", "j M Y"))


def _url(result: Result) -> str:
    if result.message:
        return message_url(result.conversation, result.message)
    return reverse("chat:conversation", args=[result.conversation])


def _more(result: Result) -> str:
    """Return how many further messages of the conversation match; "" if none does."""
    if not result.more:
        return ""
    number = f"{result.more}+" if result.has_more else str(result.more)
    return ngettext("%(number)s more", "%(number)s more", result.more) % {"number": number}


def _more_url(result: Result, typed: str) -> str:
    return f"{reverse('chat:search')}?{urlencode({'q': typed, 'chat': result.conversation})}"


def _page(request: HttpRequest, typed: str, results: Results, within: Conversation | None) -> HttpResponse:
    zone = timezone_of(request)
    place = {"q": typed} | ({"chat": within.pk} if within else {})
    context = {
        "typed": typed[:MAX_QUERY_CHARS],
        "longest": MAX_QUERY_CHARS,
        "results": [
            {
                "result": each,
                "url": _url(each),
                "day": _day(each.at, zone),
                "more": _more(each),
                "more_url": _more_url(each, typed),
            }
            for each in results.results
        ],
        "within": within,
        "everywhere": urlencode({"q": typed}),
        "further": urlencode(place | {"cursor": results.next}) if results.next else "",
        "building": results.building,
        "section": "search",
        "sections": [(each.name, reverse(f"chat:{each.name}"), each.heading) for each in LIST_PAGES],
        "listing": sidebar(access.get_user(request), zone),
    }
    with timezone.override(zone):
        return render(request, "chat/search.html", context)
