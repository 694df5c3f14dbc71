"""Work that some process does for all of them now and then: when it was done, and when it is due again."""

from datetime import timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models.functions import Now


class MaintenanceTaskManager(models.Manager["MaintenanceTask"]):
    def note(self: Self, name: str) -> None:
        """Write down that this was done now."""
        if not self.filter(pk=name).update(last_run=Now()):
            self.bulk_create([MaintenanceTask(name=name, last_run=Now())], ignore_conflicts=True)

    def claim(self: Self, name: str, interval: timedelta) -> bool:
        """Whether it is due and for the caller to do now. The update is the claim, so one process gets it."""
        if self.filter(pk=name, due__lte=Now()).update(due=Now() + interval, last_run=Now()):
            return True
        if not self.filter(pk=name).exists():
            self.bulk_create([MaintenanceTask(name=name)], ignore_conflicts=True)
        return False


class MaintenanceTask(models.Model):
    """All times are the database's."""

    WRITE_PROBE = "write probe"
    PRUNE = "prune"

    name = models.CharField(primary_key=True, max_length=40)
    due = models.DateTimeField(db_default=Now())
    last_run = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[MaintenanceTaskManager] = MaintenanceTaskManager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
