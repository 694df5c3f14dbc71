"""Changes to several conversations of one person at once, in one transaction."""

import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import Conflict, NotFound
from chat.models import Conversation, Run, SharedLink, User
from chat.models.conversation import ConversationQuerySet

from .tags import add_tag, remove_tag

MAX_CHANGED_CONVERSATIONS = 200  # conversations in one request
MAX_PINNED_CONVERSATIONS = 50  # for each person; all of them are listed


ARRANGEMENT_COLUMNS = ("pinned_at", "archived_at", "deleted")
Moments = dict[str, datetime | None]  # the values of ARRANGEMENT_COLUMNS, or of some of them


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of a change: the conversations, its time, and the live runs that the caller has to stop.

    `before`: the former ARRANGEMENT_COLUMNS of the conversations that really changed, for the undo.
    """

    conversations: list[uuid.UUID]
    at: datetime
    before: dict[uuid.UUID, Moments]
    runs: list[Run] = field(default_factory=list)


def change(user: User, action: str, conversations: list[uuid.UUID], tag: str = "") -> Changed:
    """Apply an action to those of `conversations` that still exist: another tab may have deleted some.

    Raises NotFound if none exists, Conflict if a setting or a limit forbids it; then nothing changes.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        rows = _rows(user, action).filter(pk__in=conversations)
        before = {row.pop("pk"): row for row in rows.values("pk", *ARRANGEMENT_COLUMNS)}
        if not before:
            raise NotFound(_("This conversation doesn’t exist."))
        keys, now = list(before), timezone.now()
        if action in TAGGING:
            changed = TAGGING[action](user, keys, tag)
            return Changed(keys, now, {key: before[key] for key in changed})
        after = columns_after(action, now)
        different = {key: old for key, old in before.items() if old | after != old}
        runs = _apply(user, action, Conversation.objects.filter(pk__in=keys), now)
        return Changed(keys, now, different, runs)


def columns_after(action: str, now: datetime) -> Moments:
    """Return {column: new value} of the columns that an action sets."""
    after: dict[str, Moments] = {
        "pin": {"pinned_at": now, "archived_at": None},
        "unpin": {"pinned_at": None},
        "archive": {"pinned_at": None, "archived_at": now},
        "unarchive": {"archived_at": None},
        "delete": {"deleted": now},
        "restore": {"deleted": None},
        # As if deleted so long ago that it can no longer be restored: the next sweep deletes the rows.
        "purge": {"deleted": now - timedelta(days=settings.KEEP_DELETED_DAYS)},
    }
    return after[action]


def delete(rows: ConversationQuerySet, now: datetime) -> list[Run]:
    """Mark conversations as deleted and end their shared links. Return the live runs, for the caller to stop.

    The links end for good: a conversation that is restored is not shared again unnoticed.
    """
    # The update comes first because it locks the rows: a link that is created at the same time is either
    # committed by now, and deleted below, or refused.
    rows.update(deleted=now)
    SharedLink.objects.filter(leaf__conversation__in=rows).delete()
    live = Run.objects.live().filter(conversation__in=rows)
    runs = list(live.select_related("worker"))
    if runs:
        live.update(stop_requested=True)
    return runs


def check_pins(user: User, pinned: Collection[uuid.UUID]) -> None:
    """Raise Conflict if pinning these would exceed the limit. Some of them may be pinned already."""
    others = Conversation.objects.pinned(user).exclude(pk__in=pinned)
    if others.count() + len(pinned) > MAX_PINNED_CONVERSATIONS:
        raise Conflict(
            _("You can pin at most %(most)s conversations. Unpin one first.")
            % {"most": MAX_PINNED_CONVERSATIONS}
        )


def _rows(user: User, action: str) -> ConversationQuerySet:
    """Return the user's conversations to which the action can be applied."""
    if action in ("restore", "purge"):
        return Conversation.objects.trashed(user)
    return Conversation.objects.owned_by(user).filter(temporary=False)


def _apply(user: User, action: str, rows: ConversationQuerySet, now: datetime) -> list[Run]:
    if action == "delete":
        return delete(rows, now)
    if action == "pin":
        check_pins(user, rows.values_list("pk", flat=True))
    if action == "purge" and not settings.KEEP_DELETED_DAYS:
        raise Conflict(_("This site keeps deleted conversations."))
    rows.update(**columns_after(action, now))
    return []


CHANGES = ("pin", "unpin", "archive", "unarchive", "delete", "restore", "purge")
TAGGING: dict[str, Callable[[Any, list[uuid.UUID], str], Collection[uuid.UUID]]] = {
    "tag": add_tag,
    "untag": remove_tag,
}
ACTIONS = (*CHANGES, *TAGGING)
