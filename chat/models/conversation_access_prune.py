"""The permit to delete readings: a row without which the database's triggers refuse the deletion."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import ClassVar, Self

from django.db import models


class ConversationAccessPruneManager(models.Manager["ConversationAccessPrune"]):
    @contextmanager
    def permit(self: Self, before: datetime) -> Iterator[None]:
        """Permit the deletion, inside the block, of readings from before that time that are also 90 days old.

        Use it in a transaction, so that no other transaction ever sees the row.
        """
        row = self.create(before=before)
        yield
        row.delete()


class ConversationAccessPrune(models.Model):
    """The permit: at most one row, never committed. The triggers of the readings table look for it."""

    before = models.DateTimeField()

    objects: ClassVar[ConversationAccessPruneManager] = ConversationAccessPruneManager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"readings before {self.before}"
