"""The pages with all conversations, with the archive and with the trash."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.accounts.timezones import timezone_of
from chat.conversations.tags import having, tags_of
from chat.db.executor import run_in_db
from chat.limits import MAX_TAG_CHARS
from chat.models import Conversation, User
from chat.models.conversation import ConversationQuerySet

from ..requests import access
from ..requests.request_fields import is_part, query_number
from .conversation_changes import REPORTED_ACTIONS, UNDO, change_several, offered_undo, sentence
from .sidebar import grouped, page_before, sidebar

CONVERSATIONS_PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class ListPage:
    """A list of conversations with a page of its own, sorted by the column `moment`."""

    name: str
    heading: Promise
    empty: Promise
    moment: str
    rows: Callable[[User], ConversationQuerySet]
    actions: tuple[tuple[str, Promise], ...]


CHAT_LIST = ListPage(
    "list",
    _("Chats"),
    _("Your chats will appear here."),
    "updated",
    Conversation.objects.listed,
    (("pin", _("Pin")), ("unpin", _("Unpin")), ("archive", _("Archive")), ("delete", _("Delete"))),
)
ARCHIVE = ListPage(
    "archive",
    _("Archived"),
    _("No archived chats."),
    "archived_at",
    Conversation.objects.archived,
    (("unarchive", _("Move back to the list")), ("delete", _("Delete"))),
)
TRASH = ListPage(
    "trash",
    _("Trash"),
    _("The trash is empty."),
    "deleted",
    Conversation.objects.trashed,
    (("restore", _("Restore")), ("purge", _("Delete now"))),
)
LIST_PAGES = (CHAT_LIST, ARCHIVE, TRASH)


@access.require_methods("GET", "HEAD", "POST")
async def conversations(request: HttpRequest) -> HttpResponseBase:
    """Show the list; a POST changes the conversations that were chosen in it.

    For the chat page's own script, return only the tags and the items of the sidebar.
    """
    if request.method == "POST":
        return await change_several(request)
    if is_part(request):
        return await run_in_db(_items, request)
    return await run_in_db(render_list_page, request, CHAT_LIST)


@access.require_methods("GET", "HEAD")
def archive(request: HttpRequest) -> HttpResponse:
    return render_list_page(request, ARCHIVE)


@access.require_methods("GET", "HEAD")
def trash(request: HttpRequest) -> HttpResponse:
    return render_list_page(request, TRASH)


def _items(request: HttpRequest) -> HttpResponse:
    user = access.get_user(request)
    listing = sidebar(user, timezone_of(request), before=_cursor(request, user))
    return render(request, "chat/_sidebar_update.html", {"listing": listing})


def render_list_page(request: HttpRequest, list_page: ListPage) -> HttpResponse:
    """Render a page of a list, the first one if a change emptied this one. The number of queries is fixed."""
    user, zone = access.get_user(request), timezone_of(request)
    tag = request.GET.get("tag", "").replace("\0", "")[:MAX_TAG_CHARS]
    conversations = list_page.rows(user)
    if tag:
        conversations = having(conversations, user, tag)
    before = _cursor(request, user)
    rows = _rows(conversations, list_page, before)
    if before and not rows and "done" in request.GET:  # the change moved all of the last page
        before, rows = None, _rows(conversations, list_page, None)
    page = rows[:CONVERSATIONS_PER_PAGE]
    listing = sidebar(user, zone)
    context: dict[str, Any] = {
        "list_page": list_page,
        "section": list_page.name,
        "actions": [each for each in list_page.actions if each[0] != "purge" or settings.KEEP_DELETED_DAYS],
        "sections": [(each.name, reverse(f"chat:{each.name}"), each.heading) for each in LIST_PAGES],
        "groups": _groups(page, zone, list_page),
        "place": urlencode(({"tag": tag} if tag else {}) | ({"before": before.pk} if before else {})),
        "older": page[-1]["pk"] if len(rows) > CONVERSATIONS_PER_PAGE else None,
        "tag": tag,
        "tags": listing.tags,
        "longest_tag": MAX_TAG_CHARS,
        "done": _done(request),
        "undo": offered_undo(request),
        "kept_days": settings.KEEP_DELETED_DAYS,
        "listing": listing,
    }
    with timezone.override(zone):
        return render(request, "chat/conversations.html", context)


def _rows(
    conversations: ConversationQuerySet, list_page: ListPage, before: Conversation | None
) -> list[dict[str, Any]]:
    """Return the rows of a page, and one more if there are older ones."""
    columns = ("pk", "title", "updated", "pinned_at", list_page.moment)
    ordered = page_before(conversations, list_page.moment, before)
    return list(ordered.values(*columns)[: CONVERSATIONS_PER_PAGE + 1])


def _cursor(request: HttpRequest, user: User) -> Conversation | None:
    # Includes deleted ones, because the last conversation of the client's list may have been deleted since.
    return access.page_cursor(request, Conversation.objects.filter(user=user))


def _groups(rows: list[dict[str, Any]], zone: Any, list_page: ListPage) -> list[dict[str, Any]]:
    """Return the rows by days and months, each with its tags."""
    tags = tags_of([row["pk"] for row in rows])
    more = {row["pk"]: {"tags": tags.get(row["pk"], []), "pinned": row["pinned_at"]} for row in rows}
    groups = grouped(rows, zone, moment=list_page.moment)
    return [group | {"items": [item | more[item["id"]] for item in group["items"]]} for group in groups]


def _done(request: HttpRequest) -> str:
    """Return the sentence about the change that led here, from the URL's query.

    "" if there was none, or it offered an undo that was used since, or that a later change has replaced.
    """
    action, number = request.GET.get("done", ""), query_number(request, "number")
    if UNDO in request.GET and not offered_undo(request):
        return ""
    if action not in REPORTED_ACTIONS or number is None:
        return ""
    return sentence(action, number)
