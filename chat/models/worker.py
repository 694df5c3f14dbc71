"""A worker: one life of one server process, the owner of its live runs."""

import uuid
from datetime import timedelta

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

DEAD_AFTER = timedelta(seconds=12)


class WorkerQuerySet(models.QuerySet["Worker"]):
    def silent(self) -> "WorkerQuerySet":
        """Workers whose heart stopped, by the database's clock: hosts' clocks may differ."""
        return self.filter(beat__lt=Now() - DEAD_AFTER)

    def alive(self) -> "WorkerQuerySet":
        return self.filter(beat__gte=Now() - DEAD_AFTER)


class Worker(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.CharField(max_length=100, default="", blank=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started = models.DateTimeField(db_default=Now(), editable=False)
    beat = models.DateTimeField(db_default=Now(), db_index=True)

    objects = WorkerQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("worker"), _("workers")
        constraints = [models.CheckConstraint(condition=models.Q(pid__gt=0), name="worker_has_pid")]

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"
