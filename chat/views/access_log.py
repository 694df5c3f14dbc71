"""Access log: shows users which members of staff read their conversations."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.exceptions import BadRequest, NotAuthenticated
from chat.models import Conversation, Reading, ReadingOwner, User
from chat.timezones import timezone_of

from . import access

PAGE = 50  # readings shown at once
LONGEST_KEY = 18  # digits; fits every database's 64-bit integer


@access.require_methods("GET", "HEAD")
async def readings(request: HttpRequest) -> HttpResponseBase:
    """List the newest readings of the user's conversations; with `?before=<number>` those before that one."""
    return await run_in_db(_readings, request)


def _readings(request: HttpRequest) -> HttpResponse:
    try:
        user = access.get_user(request)
    except NotAuthenticated:
        return access.login_redirect(request)
    before = _before(request)
    keys = _newest(user, before)
    rows = Reading.objects.in_bulk(keys[:PAGE])
    shown = [rows[key] for key in keys[:PAGE]]
    there = _still_there(user, {row.conversation for row in shown if row.conversation})
    listed = ReadingOwner.objects.filter(owner_key=user.pk, reading__in=keys[:PAGE])
    numbers = {key: len(found) for key, found in listed.values_list("reading_id", "conversations")}
    context: dict[str, Any] = {
        "readings": [
            {"row": row, "there": row.conversation in there, "number": numbers.get(row.pk)} for row in shown
        ],
        "older": keys[PAGE - 1] if len(keys) > PAGE else None,
        "newest": before is None,
    }
    with timezone.override(timezone_of(request)):
        return render(request, "chat/readings.html", context)


def _newest(user: User, before: int | None) -> list[int]:
    """Return the keys of the newest readings of this user's conversations, at most one more than PAGE.

    Two short index scans: one for opened conversations, one for lists that showed them.
    """
    opened = Reading.objects.filter(owner_key=user.pk)
    listed = ReadingOwner.objects.filter(owner_key=user.pk)
    if before is not None:
        opened, listed = opened.filter(pk__lt=before), listed.filter(reading__lt=before)
    keys = [*opened.order_by("-pk").values_list("pk", flat=True)[: PAGE + 1]]
    keys += listed.order_by("-reading").values_list("reading_id", flat=True)[: PAGE + 1]
    return sorted(keys, reverse=True)[: PAGE + 1]


def _before(request: HttpRequest) -> int | None:
    written = request.GET.get("before")
    if written is None:
        return None
    if not (written.isascii() and written.isdigit() and len(written) <= LONGEST_KEY):
        raise BadRequest(_("“before” must be the number of a reading."))
    return int(written)


def _still_there(user: Any, keys: set[uuid.UUID]) -> set[uuid.UUID]:
    return set(Conversation.objects.owned_by(user).filter(pk__in=keys).values_list("pk", flat=True))
