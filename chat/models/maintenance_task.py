"""Periodic tasks that one process runs for all: the time of the last run and of the next."""

from datetime import timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models.functions import Now


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
