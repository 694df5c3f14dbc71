"""The sidebar: pinned conversations first, then the newest, grouped by day and month."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from itertools import groupby
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext

from chat.conversations.changes import MAX_PINNED_CONVERSATIONS
from chat.conversations.tags import tag_names
from chat.models import Conversation, Run, User

MAX_LISTED_CONVERSATIONS = 200  # conversations in one response
LIVE_RUN_SQL = "status IN ('queued', 'running')"
REPLYING, UNSEEN = "replying", "unseen"


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
    return capfirst(date_format(datetime.strptime(key, "%Y-%m"), "YEAR_MONTH_FORMAT"))


def _item(row: dict[str, Any], current: uuid.UUID | None) -> dict[str, Any]:
    return {
        "id": row["pk"],
        "title": row["title"],
        "url": reverse("chat:conversation", args=[row["pk"]]),
        "current": row["pk"] == current,
        "state": REPLYING if row.get(REPLYING) else UNSEEN if row.get(UNSEEN) else "",
    }
