"""The kinds of rows that are pruned, and the queries for those to delete now."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from chat.models import Call, Conversation, Invite, Reading, ReadingOwner, ReadingPrune, Run, RunChunk
from chat.models.invite import VALID_FOR

from .batches import Stop, batches_of, delete_all, short_transaction
from .conversations import delete_conversations
from .journals import damaged, delete_damaged

JOURNALS = "damaged journals"
LEFT_BEHIND = timedelta(days=1)  # after its run's end, a remaining chunk belongs to no process


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of rows. `rows()` returns those to delete now, or None if the settings keep them for ever."""

    name: str
    rows: Callable[[], QuerySet[Any] | None]
    delete: Callable[[QuerySet[Any], Stop], int] = delete_all


def _before(days: int) -> datetime | None:
    """Return the time before which rows are deleted; None for 0 days, which means that they are kept."""
    return timezone.now() - timedelta(days=days) if days else None


def _sessions() -> QuerySet[Any]:
    return Session.objects.filter(expire_date__lt=timezone.now())


def _invitations() -> QuerySet[Any] | None:
    before = _before(settings.KEEP_INVITATIONS_DAYS)
    if before is None:
        return None
    return Invite.objects.filter(Q(used__lt=before) | Q(used=None, created__lt=before - VALID_FOR))


def _failures() -> QuerySet[Any] | None:
    before = _before(settings.KEEP_LOGIN_FAILURES_DAYS)
    return AccessAttempt.objects.filter(attempt_time__lt=before) if before else None


def _failure_log() -> QuerySet[Any] | None:
    before = _before(settings.KEEP_LOGIN_FAILURES_DAYS)
    return AccessFailureLog.objects.filter(attempt_time__lt=before) if before else None


def _calls() -> QuerySet[Any] | None:
    before = _before(settings.KEEP_CALLS_DAYS)
    return Call.objects.filter(created__lt=before).exclude(status=Call.Status.RUNNING) if before else None


def _conversations() -> QuerySet[Any] | None:
    before = _before(settings.KEEP_DELETED_DAYS)
    if before is None:
        return None
    live = Run.objects.live().values("conversation")
    return Conversation.objects.filter(deleted__lt=before).exclude(pk__in=live)


def _readings() -> QuerySet[Any] | None:
    before = _before(settings.KEEP_READINGS_DAYS)
    return Reading.objects.filter(at__lt=before) if before else None


def _delete_readings(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete readings, each batch with a permit, without which the database refuses. Return how many."""
    before = _before(settings.KEEP_READINGS_DAYS)
    assert before
    deleted = 0
    for keys in batches_of(rows, stop):
        with short_transaction(), ReadingPrune.objects.permit(before):
            deleted += Reading.objects.filter(pk__in=keys).delete()[0]
            ReadingOwner.objects.filter(reading__in=keys).delete()
    return deleted


def _chunks() -> QuerySet[Any]:
    return RunChunk.objects.filter(run__finished__lt=timezone.now() - LEFT_BEHIND)


KINDS = (
    Kind("expired sessions", _sessions),
    Kind("used and expired invitations", _invitations),
    Kind("failed log-ins", _failures),
    Kind("entries of the log of failed log-ins", _failure_log),
    Kind("API calls", _calls),
    Kind("deleted conversations", _conversations, delete_conversations),
    Kind("pieces of ended replies", _chunks),
    Kind("readings", _readings, _delete_readings),
)


def prune(stop: Stop) -> dict[str, int]:
    """Delete all that is due, until `stop()`. Return the number of deleted rows, or files, by kind.

    Raises OSError: when a file cannot be deleted.
    """
    found = {}
    for kind in KINDS:
        rows = kind.rows()
        if rows is not None and not stop():
            found[kind.name] = kind.delete(rows, stop)
    if (before := _before(settings.KEEP_DELETED_DAYS)) and not stop():
        found[JOURNALS] = delete_damaged(before, stop)
    return found


def count() -> dict[str, int]:
    """Return the number of rows, or files, by kind, that `prune` would delete."""
    found = {kind.name: rows.count() for kind in KINDS if (rows := kind.rows()) is not None}
    if before := _before(settings.KEEP_DELETED_DAYS):
        found[JOURNALS] = len(damaged(before))
    return found
