"""The state of the model list: its version, and the time to fetch it from Cloudflare again."""

from datetime import timedelta
from typing import ClassVar, NamedTuple, Self

from django.db import models
from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.functions import Least, Now

FETCH_LEASE = timedelta(minutes=5)  # time that a process has to fetch the list before another one may try


class CatalogStatus(NamedTuple):
    """The version of the list; `is_due` if it is due to be fetched, by the database's clock."""

    version: int
    is_due: bool


class CatalogStateManager(models.Manager["CatalogState"]):
    def status(self: Self) -> CatalogStatus:
        """Return the version, and if a fetch is due. One query: every process asks every few seconds."""
        is_due = ExpressionWrapper(Q(due__lte=Now()), BooleanField())
        row = self.filter(pk=CatalogState.ONLY).values_list("version", is_due).first()
        return CatalogStatus(*row) if row else CatalogStatus(0, False)

    def bump_version(self: Self) -> None:
        """Increment the version after a change to a model, so that every process reads the models again."""
        if not self.filter(pk=CatalogState.ONLY).update(version=F("version") + 1):
            self.get_or_create(pk=CatalogState.ONLY)

    def claim_refresh(self: Self) -> bool:
        """Return True if this process is to fetch the list now. The UPDATE claims it for `FETCH_LEASE`."""
        return bool(self.filter(pk=CatalogState.ONLY, due__lte=Now()).update(due=Now() + FETCH_LEASE))

    def expedite(self: Self, within: timedelta, *, older: timedelta) -> None:
        """Make the list due `within` that time or sooner, unless the last fetch is newer than `older`."""
        old = Q(fetched=None) | Q(fetched__lt=Now() - older)
        self.filter(old, pk=CatalogState.ONLY).update(due=Least(F("due"), Now() + within))

    def postpone(self: Self, by: timedelta, error: str = "") -> None:
        """Make the list due after `by`, and store the error of this fetch; "" if it succeeded."""
        self.filter(pk=CatalogState.ONLY).update(due=Now() + by, error=error[:200])


class CatalogState(models.Model):
    """The state of the model list, in at most one row."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    version = models.PositiveBigIntegerField(default=1)
    fetched = models.DateTimeField(null=True)
    due = models.DateTimeField(db_default=Now())
    error = models.CharField(max_length=200, default="", blank=True)

    objects: ClassVar[CatalogStateManager] = CatalogStateManager()

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(id=1), name="catalog_state_only_one")]

    def __str__(self) -> str:
        return "The list of models"
