"""Rows of one person that staff can publish to everybody, or to the people in some groups."""

from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import Q

Row = TypeVar("Row", bound=models.Model)


class PublishableQuerySet(models.QuerySet[Row]):
    """Rows with an `owner`, the flag `everybody` and the relation `groups`."""

    def published(self) -> Self:
        """Return those that are published to everybody or to a group, each once."""
        return self.filter(Q(everybody=True) | Q(pk__in=self._links().values(self._key)))

    def usable_by(self, user: Any) -> Self:
        """Return the user's own, and those published to everybody or to a group of theirs, each once."""
        theirs = user.groups.through.objects.filter(user_id=user.pk).values("group_id")
        of_groups = self._links().filter(group_id__in=theirs).values(self._key)
        return self.filter(Q(owner_id=user.pk) | Q(everybody=True) | Q(pk__in=of_groups))

    def _links(self) -> Any:
        groups: Any = self.model._meta.get_field("groups")
        return groups.remote_field.through.objects.all()

    @property
    def _key(self) -> str:
        return f"{self.model._meta.model_name}_id"
