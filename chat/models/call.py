"""API calls: one row for each request to a model through the API, with its usage."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .model_request import ModelRequest, OutcomeColumns, log_indexes


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
