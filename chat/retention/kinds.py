"""The kinds of rows that pruning deletes, each with a query for the rows that are due."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from chat.db.batches import Stop
from chat.db.executor import short_transaction
from chat.files import deletion as file_deletion
from chat.models import (
    Assistant,
    AssistantVersion,
    Call,
    Conversation,
    ConversationAccess,
    ConversationAccessOwner,
    ConversationAccessPrune,
    Feedback,
    Invite,
    Message,
    Run,
    RunChunk,
    SharedLink,
)
from chat.models.links import VALID_FOR
from chat.ownership.journal import DAMAGED_SUFFIX

from .deletion import batches_of, delete_all, delete_conversations, delete_messages, never

JOURNALS = "damaged journals"
STRAY = "uploaded files without a row"
TEMPORARY_LIFETIME = timedelta(hours=23)  # since the last turn; the next sweep still deletes it within a day
REPLACED_VERSION_AGE = timedelta(days=1)  # since it was written; then no open page begins a chat with it
LEFTOVER_CHUNK_AGE = timedelta(days=1)  # since the end of its run; no process needs the chunk any more


@dataclass(frozen=True, slots=True)
class RetentionKind:
    """A kind of rows.

    `rows(before)` returns those that are due: `before` is the time that a `setting`, in days, keeps them for;
    without one, now.
    """

    name: str
    rows: Callable[[datetime], QuerySet[Any]]
    delete: Callable[[QuerySet[Any], Stop], int] = delete_all
    setting: str = ""

    def due(self) -> QuerySet[Any] | None:
        """Return the rows that are due, or None if the setting keeps them for ever."""
        before = _before(self.setting) if self.setting else timezone.now()
        return None if before is None else self.rows(before)


def _before(setting: str) -> datetime | None:
    """Return the time before which rows are due; None for 0 days, which means for ever."""
    days = getattr(settings, setting)
    return timezone.now() - timedelta(days=days) if days else None


def _invitations(before: datetime) -> QuerySet[Any]:
    return Invite.objects.filter(Q(used__lt=before) | Q(used=None, created__lt=before - VALID_FOR))


def _live() -> QuerySet[Any]:
    return Run.objects.live().values("conversation")


def _conversations(before: datetime) -> QuerySet[Any]:
    return Conversation.objects.filter(deleted__lt=before).exclude(pk__in=_live())


def _messages(before: datetime) -> QuerySet[Any]:
    return Message.objects.filter(deleted__lt=before).exclude(conversation__in=_live())


def _temporary(now: datetime) -> QuerySet[Any]:
    """Return the temporary conversations that were closed, or had no new turn for TEMPORARY_LIFETIME.

    Also those in which a reply waits for the person, but none that is being written.
    """
    closed = Q(deleted__isnull=False) | Q(updated__lt=now - TEMPORARY_LIFETIME)
    written = Run.objects.owned().values("conversation")
    return Conversation.objects.filter(closed, temporary=True).exclude(pk__in=written)


def _delete_unsent(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete attachments that are still not sent when their rows are locked. Return their number."""
    deleted = 0
    for keys in batches_of(rows, stop):
        with short_transaction():
            deleted += file_deletion.discard(keys)
    return deleted


def _delete_readings(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete readings and return their number. Each batch needs a permit, which the triggers check."""
    before = _before("KEEP_READINGS_DAYS")
    assert before
    deleted = 0
    for keys in batches_of(rows, stop):
        with short_transaction(), ConversationAccessPrune.objects.permit(before):
            deleted += ConversationAccess.objects.filter(pk__in=keys).delete()[0]
            ConversationAccessOwner.objects.filter(access__in=keys).delete()
    return deleted


def _used_versions() -> QuerySet[Any]:
    return Conversation.objects.filter(assistant_version__isnull=False).values("assistant_version")


def _assistants(before: datetime) -> QuerySet[Any]:
    """Return the deleted assistants that no conversation uses any more."""
    used = AssistantVersion.objects.filter(pk__in=_used_versions()).values("assistant")
    return Assistant.objects.filter(deleted__lt=before).exclude(pk__in=used)


def _replaced_versions(now: datetime) -> QuerySet[Any]:
    """Return the versions before an assistant's current one that no conversation uses."""
    current = Assistant.objects.filter(current__isnull=False).values("current")
    old = AssistantVersion.objects.filter(created__lt=now - REPLACED_VERSION_AGE)
    return old.exclude(pk__in=current).exclude(pk__in=_used_versions())


def _damaged_journals(before: datetime) -> list[Path]:
    """Return the journals that no process reads again, because they are damaged, last written before then."""
    folder = Path(settings.DATA_DIR) / "workers"
    return [path for path in folder.glob(f"*{DAMAGED_SUFFIX}") if path.stat().st_mtime < before.timestamp()]


def _delete_damaged_journals(before: datetime, stop: Stop) -> int:
    """Delete the damaged journals, until `stop()`. Return their number. Raises OSError."""
    deleted = 0
    for path in _damaged_journals(before):
        if not stop():
            path.unlink(missing_ok=True)
            deleted += 1
    return deleted


DELETED = RetentionKind("deleted chats", _conversations, delete_conversations, "KEEP_DELETED_DAYS")
TEMPORARY = RetentionKind("temporary chats", _temporary, delete_conversations)
FILES = RetentionKind(
    "files of deleted attachments", lambda _: file_deletion.unused(), file_deletion.delete_unused
)
RETENTION_KINDS = (
    RetentionKind("expired sessions", lambda now: Session.objects.filter(expire_date__lt=now)),
    RetentionKind("used and expired invitations", _invitations, setting="KEEP_INVITATIONS_DAYS"),
    RetentionKind("expired shared links", lambda now: SharedLink.objects.filter(expires__lt=now)),
    RetentionKind(
        "failed logins",
        lambda before: AccessAttempt.objects.filter(attempt_time__lt=before),
        setting="KEEP_LOGIN_FAILURES_DAYS",
    ),
    RetentionKind(
        "log entries of failed logins",
        lambda before: AccessFailureLog.objects.filter(attempt_time__lt=before),
        setting="KEEP_LOGIN_FAILURES_DAYS",
    ),
    RetentionKind(
        "API calls",
        lambda before: Call.objects.filter(created__lt=before).exclude(status=Call.Status.RUNNING),
        setting="KEEP_CALLS_DAYS",
    ),
    DELETED,
    RetentionKind("deleted messages", _messages, delete_messages, "KEEP_DELETED_DAYS"),
    TEMPORARY,
    RetentionKind(
        "leftover pieces of finished replies",
        lambda now: RunChunk.objects.filter(run__finished__lt=now - LEFTOVER_CHUNK_AGE),
    ),
    RetentionKind("deleted assistants", _assistants, setting="KEEP_DELETED_DAYS"),
    RetentionKind("replaced versions of assistants", _replaced_versions),
    RetentionKind(
        "readings",
        lambda before: ConversationAccess.objects.filter(at__lt=before),
        _delete_readings,
        "KEEP_READINGS_DAYS",
    ),
    RetentionKind("files that were never sent", lambda _: file_deletion.unsent(), _delete_unsent),
    FILES,
)


def sweep(stop: Stop) -> dict[str, int]:
    """Delete what must not wait for the daily pruning, until `stop()`. Return the number of rows by kind.

    Temporary conversations and files of attachments that are gone are always deleted, deleted conversations
    that are due only with PRUNE_DAILY. Feedback that an older version stored during an upgrade gets its
    conversation.
    """
    with short_transaction():
        Feedback.objects.complete_rows()
    return _delete([TEMPORARY, *([DELETED] if settings.PRUNE_DAILY else []), FILES], stop)


def _delete(kinds: Iterable[RetentionKind], stop: Stop) -> dict[str, int]:
    found = {}
    for kind in kinds:
        rows = kind.due()
        if rows is not None and not stop():
            found[kind.name] = kind.delete(rows, stop)
    return found


def prune(stop: Stop) -> dict[str, int]:
    """Delete all that is due, until `stop()`. Return the number of deleted rows, or files, by kind.

    Raises OSError and StorageUnavailable: when a file cannot be deleted.
    """
    found = _delete(RETENTION_KINDS, stop)
    if (before := _before("KEEP_DELETED_DAYS")) and not stop():
        found[JOURNALS] = _delete_damaged_journals(before, stop)
    if not stop():
        found[STRAY] = file_deletion.delete_stray(stop)
    return found


def count() -> dict[str, int]:
    """Return the number of rows, or files, by kind, that `prune` would delete."""
    found = {kind.name: rows.count() for kind in RETENTION_KINDS if (rows := kind.due()) is not None}
    if before := _before("KEEP_DELETED_DAYS"):
        found[JOURNALS] = len(_damaged_journals(before))
    found[STRAY] = len(file_deletion.stray(never))
    return found
