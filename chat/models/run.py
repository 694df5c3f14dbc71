"""A run: one attempt at one reply, never reused."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Concat
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .attempt import Attempt
from .message import Message
from .run_chunk import RunChunk
from .statements import update

LIVE = ("queued", "running")
ENDED = ("complete", "stopped", "interrupted", "truncated", "failed")


class RunQuerySet(models.QuerySet["Run"]):
    def live(self) -> "RunQuerySet":
        """Found by the index of runs that have a worker: it holds few rows, however many runs there were."""
        return self.filter(worker__isnull=False, status__in=LIVE)

    def orphaned(self) -> "RunQuerySet":
        """Live runs whose worker has been fenced since they began."""
        return self.live().filter(epoch__lt=F("worker__epoch"))

    def owned_by(self, user: Any) -> "RunQuerySet":
        """Runs this person may watch and stop: those of their own conversations that are not deleted."""
        return self.filter(conversation__user_id=user.pk, conversation__deleted=None)


class Run(Attempt):
    """`text_offset` and `reasoning_offset` say where in the message's texts this run's own begin (code
    points). `parameters` is what the request said beside the messages and `max_tokens`.

    `context_start` is the oldest message that was sent: those above it did not fit into the model's window.

    Where another model answered than the one that was asked, `answered_by` names it, and `fallback_reason` is
    the code of what was wrong with the first.

    A live run's text stands in its chunks; when it ends, `conclude` moves it into the message. Until then
    `worker` owns it, in the `epoch` that the worker had when it began (`chat/ownership/protocol.py`).
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        COMPLETE = "complete", _("Complete")
        STOPPED = "stopped", _("Stopped")
        INTERRUPTED = "interrupted", _("Interrupted")
        TRUNCATED = "truncated", _("Truncated")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="runs")
    conversation = models.ForeignKey("Conversation", models.CASCADE, related_name="runs")
    message = models.ForeignKey("Message", models.CASCADE, related_name="runs")
    worker = models.ForeignKey(
        "Worker",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="runs",
        verbose_name=_("worker"),
        db_index=False,  # the partial index below holds the live runs only
    )
    epoch = models.PositiveBigIntegerField(default=1, db_default=1)
    client_key = models.UUIDField(default=uuid.uuid4)
    fingerprint = models.CharField(max_length=64)
    answered_by = models.CharField(_("answered by"), max_length=200, default="", blank=True)
    fallback_reason = models.CharField(max_length=40, default="", blank=True)
    max_tokens = models.PositiveIntegerField()
    context_start = models.UUIDField(null=True, blank=True, editable=False)
    parameters = models.JSONField(default=dict, db_default={}, blank=True)
    status = models.CharField(_("status"), max_length=11, choices=Status.choices)
    stop_requested = models.BooleanField(default=False)

    text_offset = models.PositiveIntegerField(default=0)
    text_length = models.PositiveIntegerField(default=0)
    reasoning_offset = models.PositiveIntegerField(default=0)
    reasoning_length = models.PositiveIntegerField(default=0)

    retry_at = models.DateTimeField(null=True, blank=True)  # before which trying again is of no use
    started = models.DateTimeField(null=True, blank=True)
    first_text = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("run"), _("runs")
        indexes = [
            models.Index(fields=["created"], name="run_by_created"),
            models.Index(fields=["worker"], condition=Q(worker__isnull=False), name="run_live_by_worker"),
            models.Index(
                fields=["conversation"], condition=Q(worker__isnull=False), name="run_live_by_conversation"
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["user", "client_key"], name="run_once_per_client_key"),
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(status__in=LIVE), name="run_one_live_per_conversation"
            ),
            models.CheckConstraint(condition=Q(status__in=LIVE + ENDED), name="run_status"),
            models.CheckConstraint(
                condition=Q(status__in=LIVE, finished=None, worker__isnull=False)
                | Q(status__in=ENDED, finished__isnull=False),
                name="run_live_has_worker_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.id}"

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def usage(self) -> dict[str, Any] | None:
        if self.completion_tokens is None:
            return None
        return {
            "prompt_tokens": self.prompt_tokens or 0,
            "completion_tokens": self.completion_tokens,
            "total_tokens": (self.prompt_tokens or 0) + self.completion_tokens,
            "cached_tokens": self.cached_tokens or 0,
            "neurons": self.neurons or 0.0,
        }

    @property
    def thinking_seconds(self) -> float | None:
        """From the first token of the reasoning to the first of the text, or to the end."""
        if not self.reasoning_length or not self.first_token:
            return None
        until = self.first_text or self.finished
        return (until - self.first_token).total_seconds() if until else None

    @property
    def retry_after(self) -> float | None:
        """Seconds until trying again may be of use, None where that may be now."""
        seconds = (self.retry_at - timezone.now()).total_seconds() if self.retry_at else 0.0
        return seconds if seconds > 0 else None

    def texts(self) -> tuple[str, str]:
        """This run's own text and reasoning: from its chunks while it lives, then from the message."""
        if self.is_live:
            return RunChunk.objects.texts(self.pk)
        text, start = self.message.text, self.text_offset
        reasoning, reasoning_offset = self.message.reasoning, self.reasoning_offset
        return (
            text[start : start + self.text_length],
            reasoning[reasoning_offset : reasoning_offset + self.reasoning_length],
        )

    def conclude(
        self,
        text: str,
        reasoning: str,
        *,
        worker: uuid.UUID,
        status: str,
        has_chunks: bool = True,
        answered_by: str = "",
        **outcome: Any,
    ) -> bool:
        """End the run once: write its text into the message and drop its chunks, if it has any.

        The message's model becomes the one that answered.
        Guarded by owner and state, so of two that try (the owner and a recovery) one wins. Says whether it
        was this call. To be called inside a transaction.
        """
        outcome |= {
            "worker_id": None,
            "status": status,
            "answered_by": answered_by,
            "text_length": len(text),
            "reasoning_length": len(reasoning),
        }
        outcome.setdefault("finished", timezone.now())
        if not update(Run, outcome, id=self.pk, worker_id=worker, status=LIVE):
            return False
        by = {"model": answered_by} if answered_by else {}
        if self.text_offset or self.reasoning_offset:
            Message.objects.filter(pk=self.message_id).update(
                text=Concat(F("text"), Value(text)), reasoning=Concat(F("reasoning"), Value(reasoning))
            )
        elif text or reasoning:  # the message is empty yet
            update(Message, {"text": text, "reasoning": reasoning, **by}, id=self.message_id)
        if has_chunks:
            RunChunk.objects.filter(run_id=self.pk).delete()
        return True
