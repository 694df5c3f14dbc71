"""Workers: each is one lifetime of a server process, and owns its live runs."""

import uuid
from datetime import timedelta

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

DEAD_AFTER = timedelta(seconds=12)


class Worker(models.Model):
    """The lease of a process: `heartbeats` counts its renewals, and a higher `epoch` takes its runs from it.

    Other processes decide by `heartbeats` that a process is dead (`chat/ownership/protocol.py`).
    `heartbeat_at` takes no part in that: it is for people, for the check before a restore, and for removing
    old rows.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.CharField(max_length=100, default="", blank=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started = models.DateTimeField(db_default=Now(), editable=False)
    heartbeat_at = models.DateTimeField(db_default=Now(), db_index=True)
    epoch = models.PositiveBigIntegerField(default=1, db_default=1)
    heartbeats = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name, verbose_name_plural = _("server process"), _("server processes")
        constraints = [models.CheckConstraint(condition=models.Q(pid__gt=0), name="worker_has_pid")]

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"
