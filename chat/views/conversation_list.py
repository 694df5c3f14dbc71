"""The user's conversations as the sidebar lists them: newest first, grouped by day and month."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from itertools import groupby
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

from chat.db import run_in_db
from chat.models import Conversation, Run, User
from chat.timezones import timezone_of

from . import access
from .errors import is_part

LISTED = 200  # conversations at once
LIVE_RUNS = "status IN ('queued', 'running')"
REPLYING, UNSEEN = "replying", "unseen"


@dataclass(frozen=True, slots=True)
class Listing:
    """`older`: the last listed conversation's id, None if no more follow; `model`: that of the newest one."""

    groups: list[dict[str, Any]]
    older: uuid.UUID | None
    model: str


@access.require_methods("GET", "HEAD")
async def conversations(request: HttpRequest) -> HttpResponseBase:
    """Return the list as a page, or only its items to a page's own script."""
    return await run_in_db(_conversations, request)


def _conversations(request: HttpRequest) -> HttpResponse:
    user = access.get_user(request)
    # Deleted ones too: the last conversation of the client's list may have been deleted since.
    before = access.page_cursor(request, Conversation.objects.filter(user=user))
    listing = read(user, timezone_of(request), before=before)
    page = "chat/_conversations.html" if is_part(request) else "chat/conversations.html"
    return render(request, page, {"listing": listing})


def read(
    user: User, zone: tzinfo, *, current: Conversation | None = None, before: Conversation | None = None
) -> Listing:
    """Return the newest LISTED conversations, or those before `before`, grouped by days in `zone`.

    One query, whatever their number; one more if `current`, the open conversation, is not among them.
    """
    found = Conversation.objects.owned_by(user).order_by("-updated", "-pk")
    if before:
        found = found.filter(Q(updated__lt=before.updated) | Q(updated=before.updated, pk__lt=before.pk))
    rows = list(_marked(found).values("pk", "title", "updated", "model", REPLYING, UNSEEN)[: LISTED + 1])
    shown = rows[:LISTED]
    open_now = current.pk if current else None
    groups = _grouped(shown, zone, open_now)
    if current and len(rows) > LISTED and all(row["pk"] != open_now for row in shown):
        groups += _apart(found.filter(pk=current.pk), zone, current.pk)
    return Listing(
        groups=groups,
        older=shown[-1]["pk"] if len(rows) > LISTED else None,
        model=shown[0]["model"] if shown else "",
    )


def _apart(found: Any, zone: tzinfo, current: uuid.UUID | None) -> list[dict[str, Any]]:
    """Return the open conversation as a group to append to the list; others between them are left out."""
    rows = _marked(found).values("pk", "title", "updated", "model", REPLYING, UNSEEN)
    return [group | {"apart": True} for group in _grouped(rows, zone, current)]


def _marked(found: Any) -> Any:
    """Annotate whether a reply is being written, and whether one ended since the owner last looked."""
    # Raw SQL, because SQLite uses the partial index of live runs only if the query repeats its condition
    # literally: 200 conversations of 30 replies each took 47 ms without the index, and 15 ms with it.
    live = Run.objects.filter(conversation=OuterRef("pk")).extra(where=[LIVE_RUNS])  # noqa: S610
    ended = Run.objects.filter(message=OuterRef("active_leaf"), finished__gt=OuterRef("last_seen"))
    return found.annotate(**{REPLYING: Exists(live), UNSEEN: Exists(ended)})


def _grouped(rows: Iterable[dict[str, Any]], zone: tzinfo, current: uuid.UUID | None) -> list[dict[str, Any]]:
    today = timezone.now().astimezone(zone).date()

    def day_of(row: dict[str, Any]) -> str:
        return _group(row["updated"].astimezone(zone).date(), today)

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
        "state": REPLYING if row[REPLYING] else UNSEEN if row[UNSEEN] else "",
    }
