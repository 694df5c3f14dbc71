"""Tags: labels with which a person groups their own conversations."""

import unicodedata
import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.limits import MAX_TAG_CHARS

MAX_FOLDED_TAG_CHARS = 3 * MAX_TAG_CHARS  # a case-folded character takes at most three


def fold(name: str) -> str:
    """Return the name case-folded: two names with the same result are one tag."""
    return unicodedata.normalize("NFC", name).casefold()


class TagQuerySet(models.QuerySet["Tag"]):
    def owned_by(self, user: Any) -> "TagQuerySet":
        return self.filter(user_id=user.pk)


class Tag(models.Model):
    """A tag of one person. `folded` is the name as `fold` returns it, which is unique for each person."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="tags",
        db_index=False,  # the constraint's index begins with it
    )
    name = models.CharField(max_length=MAX_TAG_CHARS)
    folded = models.CharField(max_length=MAX_FOLDED_TAG_CHARS, editable=False)

    objects = TagQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("tag"), _("tags")
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "folded"], name="tag_once_per_person"),
            models.CheckConstraint(condition=~models.Q(folded=""), name="tag_has_name"),
        ]

    def __str__(self) -> str:
        return self.name
