"""The permit without which the database deletes no reading: a row inside the transaction that prunes."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import ClassVar, Self

from django.db import models


class ReadingPruneManager(models.Manager["ReadingPrune"]):
    @contextmanager
    def permit(self: Self, before: datetime) -> Iterator[None]:
        """Inside it, readings from before that moment can be deleted, if they are 90 days old as well.

        To be used in a transaction: nobody else ever sees the row.
        """
        row = self.create(before=before)
        yield
        row.delete()


class ReadingPrune(models.Model):
    """At most one row, never committed. The triggers of the table of readings look for it."""

    before = models.DateTimeField()

    objects: ClassVar[ReadingPruneManager] = ReadingPruneManager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"readings before {self.before}"
