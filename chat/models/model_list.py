"""The list of models as a whole: its version, and when it is to be fetched from Cloudflare again."""

from datetime import timedelta
from typing import ClassVar, NamedTuple, Self

from django.db import models
from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.functions import Least, Now

LEASE = timedelta(minutes=5)  # for one process to fetch it, before another one may try


class Standing(NamedTuple):
    """`late`: it is time to fetch the list, by the database's clock."""

    version: int
    late: bool


class ModelListManager(models.Manager["ModelList"]):
    def status(self: Self) -> Standing:
        """One query, asked by every process every few seconds."""
        late = ExpressionWrapper(Q(due__lte=Now()), BooleanField())
        row = self.filter(pk=ModelList.ONLY).values_list("version", late).first()
        return Standing(*row) if row else Standing(0, False)

    def bump_version(self: Self) -> None:
        """Something about a model has changed: every process is to read them anew."""
        if not self.filter(pk=ModelList.ONLY).update(version=F("version") + 1):
            self.get_or_create(pk=ModelList.ONLY)

    def claim_refresh(self: Self) -> bool:
        """Whether it is for this process to fetch the list now. The update is the claim."""
        return bool(self.filter(pk=ModelList.ONLY, due__lte=Now()).update(due=Now() + LEASE))

    def expedite(self: Self, within: timedelta, *, older: timedelta) -> None:
        """Let it be fetched `within` that time, unless what was fetched is not even so old as `older`."""
        old = Q(fetched=None) | Q(fetched__lt=Now() - older)
        self.filter(old, pk=ModelList.ONLY).update(due=Least(F("due"), Now() + within))

    def postpone(self: Self, by: timedelta, error: str = "") -> None:
        """The next time to fetch it, and what went wrong this time."""
        self.filter(pk=ModelList.ONLY).update(due=Now() + by, error=error[:200])


class ModelList(models.Model):
    """At most one row."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    version = models.PositiveBigIntegerField(default=1)
    fetched = models.DateTimeField(null=True)
    due = models.DateTimeField(db_default=Now())
    error = models.CharField(max_length=200, default="", blank=True)

    objects: ClassVar[ModelListManager] = ModelListManager()

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(id=1), name="model_list_only_one")]

    def __str__(self) -> str:
        return "The list of models"
