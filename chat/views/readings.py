"""Who of the staff looked into one's conversations: told to the one who wrote them."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.engine.database import in_database
from chat.engine.refusal import Malformed, SignedOut
from chat.models import Conversation, Reading

from . import gate
from .zone import zone

PAGE = 50  # readings shown at once
LONGEST_KEY = 18  # digits; what every database takes


@gate.takes("GET", "HEAD")
async def readings(request: HttpRequest) -> HttpResponseBase:
    """The newest readings of one's own conversations, or with `?before=<number>` those before that one."""
    return await in_database(_readings, request)


def _readings(request: HttpRequest) -> HttpResponse:
    try:
        user = gate.signed_in(request)
    except SignedOut:
        return gate.to_login(request)
    rows = Reading.objects.filter(owner_key=user.pk).order_by("-pk")
    if (before := _before(request)) is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: PAGE + 1])
    shown = found[:PAGE]
    there = _still_there(user, {row.conversation for row in shown})
    context: dict[str, Any] = {
        "readings": [{"row": row, "there": row.conversation in there} for row in shown],
        "older": shown[-1].pk if len(found) > PAGE else None,
        "newest": before is None,
    }
    with timezone.override(zone(request)):
        return render(request, "chat/readings.html", context)


def _before(request: HttpRequest) -> int | None:
    written = request.GET.get("before")
    if written is None:
        return None
    if not (written.isascii() and written.isdigit() and len(written) <= LONGEST_KEY):
        raise Malformed(_("“before” must be the number of a reading."))
    return int(written)


def _still_there(user: Any, keys: set[uuid.UUID]) -> set[uuid.UUID]:
    return set(Conversation.objects.of(user).filter(pk__in=keys).values_list("pk", flat=True))
