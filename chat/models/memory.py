"""Memory: short facts that a person wants models to know."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from chat.limits import MAX_FACT_CHARS


class MemoryQuerySet(models.QuerySet["Memory"]):
    def owned_by(self, user: Any) -> Self:
        """Return the person's memories, the oldest first."""
        return self.filter(owner_id=user.pk).order_by("created", "pk")


class Memory(models.Model):
    """One fact, in one line. Whether models are told is in the person's preferences."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="memories",
        db_index=False,  # the index below begins with it
    )
    fact = models.CharField(max_length=MAX_FACT_CHARS)
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["owner", "created"], name="memory_by_owner")]

    def __str__(self) -> str:
        return self.fact
