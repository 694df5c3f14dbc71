"""Runs: each is one attempt at one reply, and is never reused. A live run's text is in its chunks."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Length
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.wire.usage import Usage

from .fast_sql import update
from .message import Message
from .model_request import ModelRequest, OutcomeColumns, log_indexes

TEXT, REASONING = "t", "r"
OWNED = ("queued", "running")  # by a process, which generates it
LIVE = (*OWNED, "waiting")
ENDED = ("complete", "stopped", "interrupted", "truncated", "failed")


class RunChunkQuerySet(models.QuerySet["RunChunk"]):
    def texts(self, run: uuid.UUID, text_from: int = 0, reasoning_from: int = 0) -> tuple[str, str]:
        """Return the stored (text, reasoning) of a live run from these positions (code points) on.

        The chunks of a run join without a gap from 0; if there is a gap, return the text before it.
        """
        rows = self.filter(run_id=run).order_by("start").annotate(end=F("start") + Length("text"))
        wanted = rows.filter(
            models.Q(kind=TEXT, end__gt=text_from) | models.Q(kind=REASONING, end__gt=reasoning_from)
        ).values_list("kind", "start", "text")
        found = list(wanted)
        return _join(found, TEXT, text_from), _join(found, REASONING, reasoning_from)


def _join(rows: Iterable[tuple[str, int, str]], kind: str, position: int) -> str:
    parts = []
    for row_kind, start, text in rows:
        if row_kind != kind:
            continue
        if start > position:
            break
        parts.append(text[position - start :])
        position = start + len(text)
    return "".join(parts)


class RunChunk(models.Model):
    run = models.ForeignKey("Run", models.CASCADE, related_name="chunks")
    kind = models.CharField(max_length=1, choices=[(TEXT, "text"), (REASONING, "reasoning")])
    start = models.PositiveIntegerField()
    text = models.TextField()

    objects = RunChunkQuerySet.as_manager()

    class Meta:
        constraints = [
            # Also the index to read a run in order; a repeated insert violates it.
            models.UniqueConstraint(fields=["run", "kind", "start"], name="chunk_once"),
            models.CheckConstraint(condition=models.Q(kind__in=[TEXT, REASONING]), name="chunk_kind"),
            models.CheckConstraint(condition=~models.Q(text=""), name="chunk_has_text"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}{self.start}+{len(self.text)}"


class RunOutcomeColumns(OutcomeColumns, total=False):
    """The columns that the end of a run sets: those of a request, and those that only a run has."""

    answered_by: str
    fallback_reason: str
    retry_at: datetime | None
    started: datetime | None
    first_text_at: datetime | None
    finished: datetime | None
    cited: int


class RunQuerySet(models.QuerySet["Run"]):
    def live(self) -> "RunQuerySet":
        """Return the live runs, found by a partial index, which stays small."""
        return self.filter(finished__isnull=True)

    def owned(self) -> "RunQuerySet":
        """Return the live runs that a process generates: those that do not wait for the person."""
        return self.filter(worker__isnull=False, status__in=OWNED)

    def orphaned(self) -> "RunQuerySet":
        """Return the live runs whose worker was fenced after they began."""
        return self.owned().filter(epoch__lt=F("worker__epoch"))

    def latest_in(self, conversation: Any) -> "RunQuerySet":
        """Return the newest run of this conversation, as a query of one row that one index answers."""
        return self.filter(conversation=conversation).order_by("-created", "-pk")[:1]

    def owned_by(self, user: Any) -> "RunQuerySet":
        """Return the runs that the user may watch and stop: their own, of messages that are not deleted."""
        return self.filter(conversation__user_id=user.pk, conversation__deleted=None, message__deleted=None)


class Run(ModelRequest):
    """One attempt at a reply.

    `text_offset` and `reasoning_offset` are the positions (code points) in the message's texts at which this
    run's own begin. `parameters` are the fields of the request other than the messages and `max_tokens`.

    `context_start` is the oldest message in the prompt: those before it did not fit into the model's window.

    If a fallback model answered, `answered_by` is its id and `fallback_reason` the error code of the model
    that was requested.

    `tools` are the names of the tools that the model may call; each call is a `Step`.

    `cited` is the number of passages that the model was given, which are `Citation`s of the message.

    A live run's text is in its chunks; when the run ends, `finish` moves it into the message. Until then
    `worker` owns the run, in the `epoch` that the worker had when the run began
    (`chat/ownership/protocol.py`).

    While it waits until the person has answered for some of its calls, it has no worker, and `suspended` is
    what it goes on from: `messages`, those that follow the prompt, and `links`, the addresses on the pages
    that it has read. `waited_seconds` is the time that it has waited.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        WAITING = "waiting", _("Waiting for an answer")
        COMPLETE = "complete", _("Complete")
        STOPPED = "stopped", _("Stopped")
        INTERRUPTED = "interrupted", _("Interrupted")
        TRUNCATED = "truncated", _("Truncated")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="runs")
    conversation = models.ForeignKey(
        "Conversation",
        models.CASCADE,
        related_name="runs",
        db_index=False,  # the index `run_latest` begins with it
    )
    message = models.ForeignKey("Message", models.CASCADE, related_name="runs")
    worker = models.ForeignKey(
        "Worker",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="runs",
        verbose_name=_("server process"),
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
    tools = models.JSONField(default=list, db_default=[], blank=True)
    suspended = models.JSONField(null=True, blank=True, editable=False)
    waited_seconds = models.FloatField(default=0.0, db_default=0.0, editable=False)
    status = models.CharField(_("status"), max_length=11, choices=Status.choices)
    stop_requested = models.BooleanField(default=False)

    text_offset = models.PositiveIntegerField(default=0)
    text_length = models.PositiveIntegerField(default=0)
    reasoning_offset = models.PositiveIntegerField(default=0)
    reasoning_length = models.PositiveIntegerField(default=0)
    cited = models.PositiveSmallIntegerField(default=0, db_default=0)

    retry_at = models.DateTimeField(null=True, blank=True)  # a retry before this time is useless
    started = models.DateTimeField(null=True, blank=True)
    first_text_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("reply"), _("replies")
        indexes = [
            *(index for index in log_indexes("run") if index.name != "run_by_status"),
            # These two find, without the rows, the conversations whose latest run has a status.
            models.Index(fields=["status", "created", "conversation", "id"], name="run_by_state"),
            models.Index(fields=["conversation", "created", "id"], name="run_latest"),
            models.Index(fields=["created"], name="run_by_created"),
            # Covers the usage of a person; a run is entered once, when its tokens are known.
            models.Index(
                fields=["user", "created", "model", "answered_by", "prompt_tokens", "completion_tokens"],
                condition=Q(completion_tokens__isnull=False),
                name="run_usage",
            ),
            models.Index(fields=["worker"], condition=Q(worker__isnull=False), name="run_live_by_worker"),
            # With the status, so that SQLite prefers it to `run_latest`, which has all runs.
            models.Index(
                fields=["conversation", "status"],
                condition=Q(finished__isnull=True),
                name="run_live_by_conversation",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["user", "client_key"], name="run_once_per_client_key"),
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(status__in=LIVE), name="run_one_live_per_conversation"
            ),
            models.CheckConstraint(condition=Q(status__in=LIVE + ENDED), name="run_status"),
            models.CheckConstraint(
                condition=Q(status__in=OWNED, finished=None, worker__isnull=False)
                | Q(status="waiting", finished=None, worker=None)
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
    def seconds(self) -> float | None:
        """Seconds from the creation to the end, without those that it waited; None until it has ended."""
        return None if (seconds := super().seconds) is None else max(0.0, seconds - self.waited_seconds)

    @property
    def usage(self) -> Usage | None:
        if self.completion_tokens is None:
            return None
        return Usage(
            self.prompt_tokens or 0, self.completion_tokens, self.cached_tokens or 0, self.neurons or 0.0
        )

    @property
    def thinking_seconds(self) -> float | None:
        """Seconds from the first token of the reasoning to the first of the text, or to the end of the run.

        None without reasoning, and while it goes on.
        """
        if not self.reasoning_length or not self.first_token:
            return None
        until = self.first_text_at or self.finished
        return (until - self.first_token).total_seconds() if until else None

    @property
    def retry_after(self) -> float | None:
        """Seconds until a retry may succeed, None if it may succeed now."""
        seconds = (self.retry_at - timezone.now()).total_seconds() if self.retry_at else 0.0
        return seconds if seconds > 0 else None

    def texts(self) -> tuple[str, str]:
        """Return this run's own (text, reasoning): from its chunks while live, then from the message."""
        if self.is_live:
            return RunChunk.objects.texts(self.pk)
        text = self.message.text[self.text_offset :][: self.text_length]
        reasoning = self.message.reasoning[self.reasoning_offset :][: self.reasoning_length]
        return text, reasoning

    def texts_of_message(self) -> tuple[str, str]:
        """Return the (text, reasoning) of the message with those of this live run, also if it ends now."""
        own = RunChunk.objects.texts(self.pk)  # first: the end moves them into the message
        stored = Message.objects.filter(pk=self.message_id).values_list("text", "reasoning").first()
        text, reasoning = stored or ("", "")
        at, thought_at = self.text_offset, self.reasoning_offset
        return text[:at] + (text[at:] or own[0]), reasoning[:thought_at] + (reasoning[thought_at:] or own[1])

    def finish(
        self,
        text: str,
        reasoning: str,
        outcome: RunOutcomeColumns,
        *,
        worker: uuid.UUID | None,
        has_chunks: bool = True,
    ) -> bool:
        """End the run: write its text into the message and delete its chunks, if it has any.

        If a fallback model answered, a message that was still empty takes that model as its own. The UPDATE
        is guarded by owner and status, so of two concurrent calls (the owner's and a recovery's) one wins:
        return True for that one. `worker` is None for a run that waits. Call it inside a transaction.
        """
        columns: dict[str, Any] = {"finished": timezone.now(), **outcome}
        columns |= {"worker_id": None, "suspended": None}
        columns |= {"text_length": len(text), "reasoning_length": len(reasoning)}
        if not update(Run, columns, id=self.pk, worker_id=worker, status=LIVE):
            return False
        answered_by = outcome.get("answered_by")
        by = {"model": answered_by} if answered_by else {}
        if self.text_offset or self.reasoning_offset:
            Message.objects.filter(pk=self.message_id).update(
                text=Concat(F("text"), Value(text)), reasoning=Concat(F("reasoning"), Value(reasoning))
            )
        elif text or reasoning:  # the message is still empty
            update(Message, {"text": text, "reasoning": reasoning, **by}, id=self.message_id)
        if has_chunks:
            RunChunk.objects.filter(run_id=self.pk).delete()
        if self.tools:
            from .step import Step, stop_unfinished  # which refers to runs

            steps, end = list(Step.objects.filter(run_id=self.pk)), self.text_offset + len(text)
            beyond = [step for step in steps if step.text_offset > end]  # behind text that was lost
            for step in {*stop_unfinished(steps), *beyond}:
                step.text_offset = min(step.text_offset, end)
                step.save()
        return True
