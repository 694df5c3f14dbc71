"""The lists of conversations: the sidebar, and the pages with all of them, the archive and the trash.

The sidebar has pinned ones first, then the newest, grouped by day and month.
"""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.accounts.timezones import timezone_of
from chat.conversations.changes import MAX_PINNED_CONVERSATIONS
from chat.conversations.tags import having, tag_names, tags_of
from chat.db.executor import run_in_db
from chat.limits import MAX_TAG_CHARS
from chat.models import Conversation, Run, User
from chat.models.conversation import ConversationQuerySet

from ..requests import access
from ..requests.errors import is_part
from ..requests.request_fields import query_number
from .conversation_changes import REPORTED_ACTIONS, UNDO, change_several, offered_undo, sentence

MAX_LISTED_CONVERSATIONS = 200  # conversations in one response
LIVE_RUN_SQL = "status IN ('queued', 'running')"
REPLYING, UNSEEN = "replying", "unseen"
CONVERSATIONS_PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the sidebar. `older`: the cursor of the next page, None if this is the last one.

    `models`: the models of these conversations, most recently used first. `tags`: the names of all of the
    person's tags, on the first page only.
    """

    groups: list[dict[str, Any]]
    older: uuid.UUID | None
    models: list[str]
    tags: list[str]
    latest: dict[str, Any] | None  # the item of the newest one


def sidebar(
    user: User, zone: tzinfo, *, current: Conversation | None = None, before: Conversation | None = None
) -> Listing:
    """Return the pinned and the newest conversations, or those before `before`, by days in `zone`.

    Three queries, whatever the number of conversations; one more if `current`, the open conversation, is not
    among them.
    """
    unpinned = Conversation.objects.listed(user).filter(pinned_at=None)
    pinned = _sidebar_rows(
        Conversation.objects.pinned(user).order_by("-pinned_at", "-pk")[:MAX_PINNED_CONVERSATIONS]
    )
    rows = _sidebar_rows(page_before(unpinned, "updated", before)[: MAX_LISTED_CONVERSATIONS + 1])
    listed = rows[:MAX_LISTED_CONVERSATIONS]
    open_now = current.pk if current else None
    groups = [] if before else _pinned(pinned, open_now)
    groups += grouped(listed, zone, open_now)
    if (
        current
        and len(rows) > MAX_LISTED_CONVERSATIONS
        and all(row["pk"] != open_now for row in [*pinned, *listed])
    ):
        groups += _apart(unpinned.filter(pk=current.pk), zone, current.pk)
    latest = sorted([*pinned, *listed], key=lambda row: row["updated"], reverse=True)
    return Listing(
        groups=groups,
        older=listed[-1]["pk"] if len(rows) > MAX_LISTED_CONVERSATIONS else None,
        models=list(dict.fromkeys(row["model"] for row in latest)),
        tags=[] if before else tag_names(user),
        latest=_item(latest[0], open_now) if latest else None,
    )


def page_before(conversations: QuerySet[Any], moment: str, before: Conversation | None) -> QuerySet[Any]:
    """Order conversations by the column `moment`, newest first. Return those after `before` in this order."""
    if before and (at := getattr(before, moment)):
        # Without OR, so that a database reads no more of the index than it returns.
        conversations = conversations.filter(**{f"{moment}__lte": at})
        conversations = conversations.exclude(**{moment: at, "pk__gte": before.pk})
    return conversations.order_by(f"-{moment}", "-pk")


def _sidebar_rows(conversations: QuerySet[Any]) -> list[dict[str, Any]]:
    return list(_marked(conversations).values("pk", "title", "updated", "model", REPLYING, UNSEEN))


def _pinned(rows: list[dict[str, Any]], current: uuid.UUID | None) -> list[dict[str, Any]]:
    items = [_item(row, current) for row in rows]
    return [{"key": "pinned", "name": gettext("Pinned"), "items": items}] if items else []


def _apart(conversations: Any, zone: tzinfo, current: uuid.UUID | None) -> list[dict[str, Any]]:
    """Return a group with the open conversation, which is older than all that are listed."""
    return [group | {"apart": True} for group in grouped(_sidebar_rows(conversations), zone, current)]


def _marked(conversations: Any) -> Any:
    """Annotate whether a reply is being written, and whether one has ended unseen by the owner."""
    # Raw SQL, because SQLite uses the partial index of live runs only if the query repeats its condition
    # literally: 200 conversations of 30 replies each took 47 ms without the index, and 15 ms with it.
    live = Run.objects.filter(conversation=OuterRef("pk")).extra(where=[LIVE_RUN_SQL])  # noqa: S610
    ended = Run.objects.filter(message=OuterRef("active_leaf"), finished__gt=OuterRef("last_seen"))
    return conversations.annotate(**{REPLYING: Exists(live), UNSEEN: Exists(ended)})


def grouped(
    rows: Iterable[dict[str, Any]], zone: tzinfo, current: uuid.UUID | None = None, moment: str = "updated"
) -> list[dict[str, Any]]:
    """Return the rows, sorted by their `moment`, in groups of days and months in `zone`."""
    today = timezone.now().astimezone(zone).date()

    def day_of(row: dict[str, Any]) -> str:
        return _group(row[moment].astimezone(zone).date(), today)

    return [
        {"key": key, "name": _name(key), "items": [_item(row, current) for row in group]}
        for key, group in groupby(rows, day_of)
    ]


def _group(day: date, today: date) -> str:
    """Return the key of a day's group. A future day, from a wrong clock, counts as today."""
    if day >= today:
        return "today"
    if day == today - timedelta(days=1):
        return "yesterday"
    return "week" if day >= today - timedelta(days=7) else f"{day:%Y-%m}"


def _name(key: str) -> str:
    if key == "today":
        return gettext("Today")
    if key == "yesterday":
        return gettext("Yesterday")
    if key == "week":
        return gettext("Previous 7 days")
    return date_format(datetime.strptime(key, "%Y-%m"), "YEAR_MONTH_FORMAT")


def _item(row: dict[str, Any], current: uuid.UUID | None) -> dict[str, Any]:
    return {
        "id": row["pk"],
        "title": row["title"],
        "url": reverse("chat:conversation", args=[row["pk"]]),
        "current": row["pk"] == current,
        "state": REPLYING if row.get(REPLYING) else UNSEEN if row.get(UNSEEN) else "",
    }


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
