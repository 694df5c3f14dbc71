"""The access log: shows users which staff members have read their conversations."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.models import Conversation, ConversationAccess, ConversationAccessOwner, User

from ..settings.settings_shell import render_section
from . import access

ACCESSES_SHOWN = 50  # readings shown at once
MAX_KEY_DIGITS = 18  # digits; fits every database's 64-bit integer


@access.require_methods("GET", "HEAD", page=True)
def readings(request: HttpRequest) -> HttpResponse:
    """List the newest readings of the user's conversations; with `?before=<number>` those before that one."""
    user = access.get_user(request)
    before = _before(request)
    keys = _newest(user, before)
    rows = ConversationAccess.objects.in_bulk(keys[:ACCESSES_SHOWN])
    page = [rows[key] for key in keys[:ACCESSES_SHOWN]]
    existing = _existing(user, {row.conversation for row in page if row.conversation})
    listed = ConversationAccessOwner.objects.filter(owner_key=user.pk, access__in=keys[:ACCESSES_SHOWN])
    numbers = {key: len(keys) for key, keys in listed.values_list("access_id", "conversations")}
    context: dict[str, Any] = {
        "readings": [
            {"row": row, "there": row.conversation in existing, "number": numbers.get(row.pk)} for row in page
        ],
        "older": keys[ACCESSES_SHOWN - 1] if len(keys) > ACCESSES_SHOWN else None,
        "newest": before is None,
    }
    return render_section(request, "readings", "chat/access_log.html", context)


def _newest(user: User, before: int | None) -> list[int]:
    """Return the keys of the newest readings of this user's conversations, at most ACCESSES_SHOWN + 1.

    Two short index scans: one for opened conversations, one for lists that showed them.
    """
    opened = ConversationAccess.objects.filter(owner_key=user.pk)
    listed = ConversationAccessOwner.objects.filter(owner_key=user.pk)
    if before is not None:
        opened, listed = opened.filter(pk__lt=before), listed.filter(access__lt=before)
    keys = [*opened.order_by("-pk").values_list("pk", flat=True)[: ACCESSES_SHOWN + 1]]
    keys += listed.order_by("-access").values_list("access_id", flat=True)[: ACCESSES_SHOWN + 1]
    return sorted(keys, reverse=True)[: ACCESSES_SHOWN + 1]


def _before(request: HttpRequest) -> int | None:
    before = request.GET.get("before")
    if before is None:
        return None
    if not (before.isascii() and before.isdigit() and len(before) <= MAX_KEY_DIGITS):
        raise BadRequest(_("“before” must be the ID of an entry."))
    return int(before)


def _existing(user: Any, keys: set[uuid.UUID]) -> set[uuid.UUID]:
    return set(Conversation.objects.owned_by(user).filter(pk__in=keys).values_list("pk", flat=True))
