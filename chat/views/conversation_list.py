"""A person's conversations as the sidebar lists them: newest first, in groups of days and months."""

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
    """`older` names the last conversation listed where there are more; `model` is the newest one's."""

    groups: list[dict[str, Any]]
    older: uuid.UUID | None
    model: str


@access.require_methods("GET", "HEAD")
async def conversations(request: HttpRequest) -> HttpResponseBase:
    """The list as a page, and its mere items for the page that has the rest already."""
    return await run_in_db(_conversations, request)


def _conversations(request: HttpRequest) -> HttpResponse:
    user = access.get_user(request)
    # One's own, deleted or not: it may have been deleted since it ended the list.
    before = access.page_cursor(request, Conversation.objects.filter(user=user))
    listing = read(user, timezone_of(request), before=before)
    page = "chat/_conversations.html" if is_part(request) else "chat/conversations.html"
    return render(request, page, {"listing": listing})


def read(
    user: User, zone: tzinfo, *, current: Conversation | None = None, before: Conversation | None = None
) -> Listing:
    """One query, whatever the number of conversations; another where the open one is not among the newest."""
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
    """The open conversation in a group of its own, behind those that are listed: others lie between."""
    rows = _marked(found).values("pk", "title", "updated", "model", REPLYING, UNSEEN)
    return [group | {"apart": True} for group in _grouped(rows, zone, current)]


def _marked(found: Any) -> Any:
    """Whether a reply is being written, and whether one ended since its owner last looked."""
    # Written out, for SQLite uses the index of live runs only where it reads the very words of its condition:
    # 200 conversations of 30 replies each took 47 ms without it, and 15 with it.
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
    """The key of a day's group: also of one to come, where a clock was wrong."""
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
