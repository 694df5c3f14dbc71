"""What a run and a program's call have in common: one time that a model was asked."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Attempt(models.Model):
    """`model` is the one that was asked. `gateway` is the AI Gateway that it went through, `gateway_log` the
    entry of that one's log, `gateway_step` which of its models answered, and `served_by` that one's name.
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
        """From the question to the reply's end."""
        return (self.finished - self.created).total_seconds() if self.finished else None
