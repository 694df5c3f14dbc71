"""Changes to several conversations of one person at once, in one transaction, and their undo.

The client keeps the former state in a signed token, so nothing is stored for an undo.
"""

import struct
import uuid
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import Conflict, NotFound
from chat.models import Conversation, Run, SharedLink, User
from chat.models.conversation import ConversationQuerySet
from chat.ownership.recovery import request_stop

from .tags import add_tag, remove_tag

MAX_CHANGED_CONVERSATIONS = 200  # conversations in one request
MAX_PINNED_CONVERSATIONS = 50  # for each person; all of them are listed


ARRANGEMENT_COLUMNS = ("pinned_at", "archived_at", "deleted")
Moments = dict[str, datetime | None]  # the values of ARRANGEMENT_COLUMNS, or of some of them
TOKEN_SECONDS = 600  # lifetime of a token
UNDO_SALT = "chat.conversations.arrangement.undo"
OPPOSITE = {"tag": "untag", "untag": "tag"}
FINAL = ("purge",)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NO_TIME = -(2**63)  # in place of None in a packed column


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
            raise NotFound(_("This chat doesn’t exist."))
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
    return request_stop(Run.objects.filter(conversation__in=rows))


def check_pins(user: User, pinned: Collection[uuid.UUID]) -> None:
    """Raise Conflict if pinning these would exceed the limit. Some of them may be pinned already."""
    others = Conversation.objects.pinned(user).exclude(pk__in=pinned)
    if others.count() + len(pinned) > MAX_PINNED_CONVERSATIONS:
        raise Conflict(
            _("You can pin at most %(most)s chats. Unpin one first.") % {"most": MAX_PINNED_CONVERSATIONS}
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
        raise Conflict(_("This site keeps deleted chats."))
    rows.update(**columns_after(action, now))
    return []


CHANGES = ("pin", "unpin", "archive", "unarchive", "delete", "restore", "purge")
TAGGING: dict[str, Callable[[Any, list[uuid.UUID], str], Collection[uuid.UUID]]] = {
    "tag": add_tag,
    "untag": remove_tag,
}
ACTIONS = (*CHANGES, *TAGGING)


def token(user: User, action: str, changed: Changed, tag: str = "") -> str:
    """Return the token that undoes this change by this person; "" if it cannot be undone."""
    if action in FINAL or not changed.before:
        return ""
    value = [user.pk, action, tag, _number(changed.at), _packed_ids(changed.before)]
    for column in ARRANGEMENT_COLUMNS:
        moments = [row[column] for row in changed.before.values()]
        value.append(_packed(moments) if any(moments) else "")
    return signing.dumps(value, salt=UNDO_SALT, compress=True)


def undo(user: User, signed: str) -> Changed:
    """Undo a change, except in conversations that have changed again since.

    Raises Conflict if all of them have, the token has expired, or it is another person's.
    """
    action, tag, at, before = _read(user, signed)
    with write_lock(), transaction.atomic():
        user.lock()
        rows = {row.pk: row for row in _unchanged(user, action, at).filter(pk__in=before)}
        if not rows:
            raise _too_late()
        if action in TAGGING:
            TAGGING[OPPOSITE[action]](user, list(rows), tag)
            return Changed(list(rows), at, {})
        check_pins(user, [key for key in rows if before[key]["pinned_at"]])
        runs = delete(Conversation.objects.filter(pk__in=rows), at) if action == "restore" else []
        for key, row in rows.items():
            for column, moment in before[key].items():
                setattr(row, column, moment)
        Conversation.objects.bulk_update(rows.values(), ARRANGEMENT_COLUMNS)
        return Changed(list(rows), at, {}, runs)


def _unchanged(user: User, action: str, at: datetime) -> ConversationQuerySet:
    """Return the conversations that are still as the action left them."""
    if action == "delete":
        return Conversation.objects.trashed(user).filter(deleted=at)
    mine = Conversation.objects.owned_by(user).filter(temporary=False)
    if action in TAGGING or action == "restore":
        return mine
    return mine.filter(**{"pinned_at": None, "archived_at": None} | columns_after(action, at))


def _read(user: User, signed: str) -> tuple[str, str, datetime, dict[uuid.UUID, Moments]]:
    try:
        owner, action, tag, at, ids, *columns = signing.loads(signed, salt=UNDO_SALT, max_age=TOKEN_SECONDS)
    except signing.BadSignature as error:
        raise _too_late() from error
    if owner != user.pk:
        raise _too_late()
    keys = _unpacked_ids(ids)
    moments = zip(*(_unpacked(column, len(keys)) for column in columns), strict=True)
    before = {
        key: dict(zip(ARRANGEMENT_COLUMNS, row, strict=True)) for key, row in zip(keys, moments, strict=True)
    }
    return action, tag, _moment(at) or EPOCH, before


def _too_late() -> Conflict:
    return Conflict(_("This can’t be undone any more."))


def _packed_ids(keys: Iterable[uuid.UUID]) -> str:
    return b64encode(b"".join(key.bytes for key in keys)).decode()


def _unpacked_ids(packed: str) -> list[uuid.UUID]:
    data = b64decode(packed)
    return [uuid.UUID(bytes=data[start : start + 16]) for start in range(0, len(data), 16)]


def _packed(moments: list[datetime | None]) -> str:
    return b64encode(struct.pack(f"<{len(moments)}q", *map(_number, moments))).decode()


def _unpacked(packed: str, length: int) -> list[datetime | None]:
    if not packed:
        return [None] * length
    return [_moment(number) for number in struct.unpack(f"<{length}q", b64decode(packed))]


def _number(moment: datetime | None) -> int:
    return NO_TIME if moment is None else (moment - EPOCH) // MICROSECOND


def _moment(number: Any) -> datetime | None:
    return None if number == NO_TIME else EPOCH + number * MICROSECOND
