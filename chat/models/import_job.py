"""Imports: an uploaded file, first read for a preview, then stored as conversations."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

MAX_IMPORT_NAME_CHARS = 200
OPEN = ("checking", "ready", "importing")
WORKING = ("checking", "importing")
ABANDONED_AFTER = timedelta(seconds=20)  # without a heartbeat; then another process takes the import over


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    def owned_by(self, user: Any) -> "ImportJobQuerySet":
        return self.filter(user_id=user.pk)

    def open(self) -> "ImportJobQuerySet":
        """Return the imports that are not finished; each person has at most one."""
        return self.filter(state__in=OPEN)

    def claimable(self) -> "ImportJobQuerySet":
        """Return the imports that wait for a process, or whose process has died.

        First those whose phase has had no turn, the oldest first; then those whose last turn is longest ago.
        """
        dead = Q(beat=None) | Q(beat__lt=timezone.now() - ABANDONED_AFTER)
        return self.filter(dead, state__in=WORKING, user__is_active=True).order_by(
            F("beat").asc(nulls_first=True), "created"
        )


class ImportJob(models.Model):
    """One person's import of one file.

    The file is `imports/<id>` in DATA_DIR until the import has ended. A process works on it while it renews
    `beat`; `claim` is new for each process that takes it over, so that an earlier one stops.
    `attempts` counts the processes that took it up since it got on and did not give it back.

    `total` counts the objects of the file, `processed` those that were dealt with, `stored` the conversations
    that were stored. `preview` is what the import would do: its `without` is what would be left out, its
    `lost` what was, its `read` what the next turn need not read. `problem` says why the file was refused
    (`chat/transfer/problems.py`).
    """

    class State(models.TextChoices):
        CHECKING = "checking"
        READY = "ready"
        IMPORTING = "importing"
        DONE = "done"
        STOPPED = "stopped"
        REFUSED = "refused"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="imports")
    state = models.CharField(max_length=9, choices=State.choices, default=State.CHECKING)
    file_name = models.CharField(max_length=MAX_IMPORT_NAME_CHARS)
    size = models.PositiveBigIntegerField()
    preview = models.JSONField(default=dict)
    problem = models.CharField(max_length=40, default="", blank=True)
    total = models.PositiveIntegerField(default=0)
    processed = models.PositiveIntegerField(default=0)
    stored = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    claim = models.UUIDField(null=True, blank=True)
    beat = models.DateTimeField(null=True, blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    finished = models.DateTimeField(null=True, blank=True)

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["created"], condition=Q(state__in=WORKING), name="import_job_working")
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["user"], condition=Q(state__in=OPEN), name="import_job_one_open_per_person"
            )
        ]

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_working(self) -> bool:
        return self.state in WORKING
