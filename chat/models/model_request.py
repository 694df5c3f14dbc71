"""Requests to a model: the abstract base, and those that are no runs, for titles and through the API."""

import uuid
from datetime import datetime
from typing import Required, TypedDict

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class OutcomeColumns(TypedDict, total=False):
    """The columns that the end of a request sets. A missing one keeps its value."""

    status: Required[str]
    finish_reason: str
    error_code: str
    error_message: str
    request_id: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    neurons: float
    gateway: str
    gateway_log: str
    gateway_cached: bool
    gateway_step: int | None
    served_by: str
    first_token: datetime | None


def log_indexes(name: str) -> list[models.Index]:
    """Return the indexes of a list of requests, each sorted by time.

    Requests with an error are few, so that what finds these costs the others nothing.
    """
    failed = ~models.Q(error_code="")
    return [
        models.Index(fields=["user", "created"], name=f"{name}_by_user"),
        models.Index(fields=["model", "created"], name=f"{name}_by_model"),
        models.Index(fields=["status", "created"], name=f"{name}_by_status"),
        models.Index(fields=["request_id"], name=f"{name}_by_request"),
        models.Index(fields=["created"], condition=failed, name=f"{name}_failed"),
        models.Index(fields=["error_code", "created"], condition=failed, name=f"{name}_by_error"),
    ]


class ModelRequest(models.Model):
    """One request to a model: its outcome, tokens, AI Gateway and times.

    `model` is the model that was requested. `gateway` is the AI Gateway that the request went through,
    `gateway_log` the id of its entry in the gateway's log, `gateway_step` the position of the gateway's model
    that answered, and `served_by` the name of that model.
    """

    model = models.CharField(_("model"), max_length=200)
    finish_reason = models.CharField(max_length=40, default="", blank=True)
    error_code = models.CharField(_("error code"), max_length=40, default="", blank=True)
    error_message = models.CharField(max_length=500, default="", blank=True)
    request_id = models.CharField(_("request id"), max_length=100, default="", blank=True)

    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    neurons = models.FloatField(_("neurons"), null=True, blank=True)

    gateway = models.CharField(_("gateway"), max_length=64, default="", blank=True)
    gateway_log = models.CharField(max_length=64, default="", blank=True)
    gateway_cached = models.BooleanField(default=False)
    gateway_step = models.PositiveSmallIntegerField(null=True, blank=True)
    served_by = models.CharField(_("served by"), max_length=200, default="", db_default="", blank=True)

    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    first_token = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def seconds(self) -> float | None:
        """Seconds from the creation to the end of the reply; None until it has ended."""
        return (self.finished - self.created).total_seconds() if self.finished else None


class TitleRequest(ModelRequest):
    """A request for a title, at most one for each conversation.

    It is stored as interrupted before it is sent, which is the right status if the process dies meanwhile.
    """

    class Status(models.TextChoices):
        COMPLETE = "complete", _("Complete")
        INTERRUPTED = "interrupted", _("Interrupted")
        TRUNCATED = "truncated", _("Truncated")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="title_requests", verbose_name=_("person")
    )
    conversation = models.OneToOneField("Conversation", models.CASCADE, related_name="title_request")
    status = models.CharField(_("status"), max_length=11, choices=Status.choices, default=Status.INTERRUPTED)

    class Meta:
        verbose_name, verbose_name_plural = _("title request"), _("title requests")
        default_permissions = ("view",)
        indexes = [
            *log_indexes("title_request"),
            models.Index(fields=["-created"], name="title_request_by_time"),
            # Covers the usage of a person.
            models.Index(
                fields=["user", "created", "model", "prompt_tokens", "completion_tokens"],
                condition=models.Q(completion_tokens__isnull=False),
                name="title_request_usage",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.id}"


class CallQuerySet(models.QuerySet["Call"]):
    def live(self) -> "CallQuerySet":
        return self.filter(worker__isnull=False, status=Call.Status.RUNNING)

    def orphaned(self) -> "CallQuerySet":
        """Return the live calls whose worker was fenced after they began."""
        return self.live().filter(epoch__lt=F("worker__epoch"))


class Call(ModelRequest):
    """An API call, written when it begins and again when it ends, so that a crash hides no call.

    `run` is the same call as a turn of a conversation, if the key stores conversations.
    """

    class Status(models.TextChoices):
        RUNNING = "running", _("Running")
        COMPLETE = "complete", _("Complete")
        STOPPED = "stopped", _("Stopped")
        INTERRUPTED = "interrupted", _("Interrupted")
        TRUNCATED = "truncated", _("Truncated")
        FAILED = "failed", _("Failed")

    class Dialect(models.TextChoices):
        OPENAI = "openai", "OpenAI"
        WORKERS_AI = "workers_ai", "Workers AI"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="calls", verbose_name=_("person")
    )
    key = models.ForeignKey(
        "ApiKey", models.SET_NULL, null=True, blank=True, related_name="calls", verbose_name=_("API key")
    )
    worker = models.ForeignKey(
        "Worker", models.PROTECT, null=True, blank=True, related_name="calls", db_index=False
    )
    epoch = models.PositiveBigIntegerField(default=1, db_default=1)
    run = models.OneToOneField("Run", models.SET_NULL, null=True, blank=True, related_name="call")
    dialect = models.CharField(_("dialect"), max_length=10, choices=Dialect.choices)
    streamed = models.BooleanField(_("streamed"))
    status = models.CharField(_("status"), max_length=11, choices=Status.choices, default=Status.RUNNING)

    objects = CallQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("API call"), _("API calls")
        default_permissions = ("view",)
        indexes = [
            *log_indexes("call"),
            models.Index(fields=["-created"], name="call_by_time"),
            models.Index(fields=["dialect", "created"], name="call_by_dialect"),
            # Covers the usage of a person; a call is entered once, when its tokens are known.
            models.Index(
                fields=["user", "created", "model", "prompt_tokens", "completion_tokens"],
                condition=Q(completion_tokens__isnull=False, run__isnull=True),
                name="call_usage",
            ),
            # Recovery looks every few seconds for live calls of dead processes, among all calls ever made.
            models.Index(fields=["worker"], condition=Q(worker__isnull=False), name="call_live_by_worker"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="running", finished=None) | (~Q(status="running") & ~Q(finished=None)),
                name="call_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.id}"

    def begin(self) -> None:
        self.save(force_insert=True)

    def finish(self, outcome: OutcomeColumns) -> bool:
        """End the call. Return False if it had ended before: recovery may have ended it as an orphan."""
        live = Call.objects.filter(pk=self.pk, status=Call.Status.RUNNING)
        return bool(live.update(**outcome, finished=timezone.now(), worker_id=None))
