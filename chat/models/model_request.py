"""The abstract base of runs and API calls: one request to a model."""

from datetime import datetime
from typing import Required, TypedDict

from django.db import models
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
