"""Workers, each one lifetime of a server process, and the periodic tasks that one of them runs for all."""

import uuid
from datetime import timedelta
from typing import ClassVar, Self

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


class MaintenanceTaskManager(models.Manager["MaintenanceTask"]):
    def note(self: Self, name: str) -> None:
        """Record that the task ran now."""
        if not self.filter(pk=name).update(last_run=Now()):
            self.bulk_create([MaintenanceTask(name=name, last_run=Now())], ignore_conflicts=True)

    def claim(self: Self, name: str, interval: timedelta) -> bool:
        """Return True if the task is due and the caller is to run it now.

        The UPDATE is the claim, so only one process gets True. A task without a row gets one, due at the next
        call.
        """
        if self.filter(pk=name, due__lte=Now()).update(due=Now() + interval, last_run=Now()):
            return True
        if not self.filter(pk=name).exists():
            self.bulk_create([MaintenanceTask(name=name)], ignore_conflicts=True)
        return False


class MaintenanceTask(models.Model):
    """A periodic task. All times are those of the database's clock."""

    WRITE_PROBE = "write probe"
    PRUNE = "prune"
    SWEEP = "sweep"

    name = models.CharField(primary_key=True, max_length=40)
    due = models.DateTimeField(db_default=Now())
    last_run = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[MaintenanceTaskManager] = MaintenanceTaskManager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
