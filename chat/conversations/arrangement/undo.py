"""Undo of a change. The client keeps the former state in a signed token, so nothing is stored for it."""

import struct
import uuid
from base64 import b64decode, b64encode
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core import signing
from django.db import transaction
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import Conflict
from chat.models import Conversation, User
from chat.models.conversation import ConversationQuerySet

from .changes import ARRANGEMENT_COLUMNS, TAGGING, Changed, Moments, check_pins, columns_after, delete

TOKEN_SECONDS = 600  # lifetime of a token
UNDO_SALT = "chat.conversations.arrangement.undo"
OPPOSITE = {"tag": "untag", "untag": "tag"}
FINAL = ("purge",)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NO_TIME = -(2**63)  # in place of None in a packed column


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
