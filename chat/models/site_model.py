"""Models that this site may offer: their settings, the state of their list, and doors to a few of them."""

from datetime import timedelta
from typing import Any, ClassVar, NamedTuple, Self

from django.contrib.auth.models import Group
from django.db import models, transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.functions import Least, Now
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.db.executor import write_lock

FETCH_LEASE = timedelta(minutes=5)  # time that a process has to fetch the list before another one may try
MAX_REJECTIONS = 3  # from then on a model counts as ended: Cloudflare once refused a model that had not
REJECTION_LIFETIME = timedelta(days=1)  # after the last rejection; then the model is tried again
LIMITS_LIFETIME = timedelta(days=1)  # of limits read from an error, which may be wrong and is not repeated
DEFAULT_POSITION = 1_000
POSITION_STEP = 10  # between the positions of two models, so that others can be put between them


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

    def make_due(self: Self) -> None:
        """Make the list due now, however new it is."""
        self.filter(pk=CatalogState.ONLY).update(due=Now())

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


class ForGroups(models.Model):
    """A row that only the people in its groups may use; without a group, everybody."""

    groups = models.ManyToManyField(
        Group,
        related_name="+",
        blank=True,
        verbose_name=_("groups"),
        help_text=_("Only people in these groups can use it. Leave empty for everyone."),
    )

    class Meta:
        abstract = True


class SiteModelQuerySet(models.QuerySet["SiteModel"]):
    def count_rejection(self, key: str) -> None:
        """Count one rejection of this model as ended by Cloudflare; start anew a day after the last one."""
        now = timezone.now()
        row = self.filter(pk=key)
        if not row.filter(last_rejected__gt=now - REJECTION_LIFETIME).update(
            rejections=F("rejections") + 1, last_rejected=now
        ):
            row.update(rejections=1, last_rejected=now)

    def note_limits(self, key: str, window: int | None, output: int | None) -> bool:
        """Store the limits in tokens that an error of this model names; return False if they are known."""
        now = timezone.now()
        limits = {"observed_context_window": window, "observed_max_output": output}
        named = {name: value for name, value in limits.items() if value}
        row = self.filter(pk=key)
        fresh = row.filter(limits_observed__gt=now - LIMITS_LIFETIME)
        if not named or fresh.filter(**named).exists():
            return False
        if not fresh.update(**named, limits_observed=now):
            row.update(**limits, limits_observed=now)
        return True

    def exchange(self, key: str, other: str) -> None:
        """Exchange the places of two models. Call it in a transaction; both exist."""
        before = dict(self.order_by("position", "id").values_list("pk", "position"))
        places = before
        if len(set(before.values())) < len(before):  # such as of all that are not bundled
            places = {pk: POSITION_STEP * n for n, pk in enumerate(before, 1)}
        places = places | {key: places[other], other: places[key]}
        for pk, place in places.items():
            if place != before[pk]:
                self.filter(pk=pk).update(position=place)

    def put_default(self, key: str) -> None:
        """Make this model the default. Call it in the transaction that checked that it may be."""
        self.filter(is_default=True).exclude(pk=key).update(is_default=False)
        self.filter(pk=key).update(is_default=True)


class SiteModel(ForGroups):
    """A model and the administrator's settings for it.

    `metadata` is Cloudflare's description of the model as JSON, empty if its list could not be fetched.
    `observed_context_window` and `observed_max_output`, in tokens, are limits read from error messages of the
    model at the time `limits_observed`: see `observed_limits`. `delisted_at` is the time since which
    Cloudflare no longer lists it. `display_name` replaces the maker's name. Only an `enabled` model can be
    chosen.
    """

    class Source(models.TextChoices):
        BUNDLED = "bundled", _("built in")
        SEARCH = "search", _("Cloudflare’s list")
        FINETUNE = "finetune", _("fine-tune of the account")
        SITE = "site", _("site settings")

    id = models.CharField(max_length=200, primary_key=True, editable=False)
    source = models.CharField(_("source"), max_length=8, choices=Source, editable=False)
    metadata = models.JSONField(default=dict, editable=False)
    observed_context_window = models.PositiveBigIntegerField(null=True, editable=False)
    observed_max_output = models.PositiveBigIntegerField(null=True, editable=False)
    limits_observed = models.DateTimeField(null=True, editable=False)
    delisted_at = models.DateTimeField(null=True, editable=False)
    rejections = models.PositiveIntegerField(default=0, editable=False)
    last_rejected = models.DateTimeField(null=True, editable=False)
    enabled = models.BooleanField(_("shown"), default=True)
    is_default = models.BooleanField(_("default"), default=False, editable=False)
    position = models.PositiveIntegerField(_("order"), default=DEFAULT_POSITION)
    display_name = models.CharField(
        _("custom name"), max_length=100, default="", blank=True, help_text=_("Replaces the official name.")
    )

    objects = SiteModelQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("model"), _("models")
        default_permissions = ("view", "change")
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=Q(is_default=True), name="site_model_one_default"
            ),
            models.CheckConstraint(
                condition=Q(is_default=False) | Q(enabled=True), name="site_model_default_is_enabled"
            ),
        ]

    def __str__(self) -> str:
        return self.display_name or self.id

    @property
    def observed_limits(self) -> tuple[int | None, int | None]:
        """(window, longest reply) in tokens as its errors named them in the last day, else None."""
        if self.limits_observed is None or self.limits_observed < timezone.now() - LIMITS_LIFETIME:
            return None, None
        return self.observed_context_window, self.observed_max_output

    @property
    def has_ended(self) -> bool:
        """True if Cloudflare no longer lists the model, or refused it often and lately enough as ended."""
        rejected = self.last_rejected is not None and self.last_rejected > timezone.now() - REJECTION_LIFETIME
        return self.delisted_at is not None or (rejected and self.rejections >= MAX_REJECTIONS)


class SiteDoorManager(models.Manager["SiteDoor"]):
    def replace_all(self, rows: list["SiteDoor"]) -> None:
        """Store these doors, in their order, in place of all others. Without any, the site chooses them."""
        for position, row in enumerate(rows):
            row.position = position
        with write_lock(), transaction.atomic():
            self.all().delete()
            self.bulk_create(rows)
            CatalogState.objects.bump_version()


class SiteDoor(models.Model):
    """A door of the site; while there is no row, those of all kinds are chosen from the catalog.

    A door of a kind may leave its `name`, its `about` or its `model` to the kind; one of the site's own,
    whose `kind` is "", has a name and a model.
    """

    class Kind(models.TextChoices):
        EVERYDAY = "everyday", _("Everyday")
        CAREFUL = "careful", _("Careful")
        PICTURES = "pictures", _("Pictures")
        CODE = "code", _("Code")

    position = models.PositiveSmallIntegerField(primary_key=True)
    kind = models.CharField(max_length=8, choices=Kind, default="", blank=True)
    name = models.CharField(max_length=30, default="", blank=True)
    about = models.CharField(max_length=100, default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)

    objects: ClassVar[SiteDoorManager] = SiteDoorManager()

    class Meta:
        default_permissions = ()
        ordering = ("position",)
        constraints = [
            models.UniqueConstraint(fields=["kind"], condition=~Q(kind=""), name="site_door_one_kind"),
            models.CheckConstraint(
                condition=~Q(kind="") | ~(Q(name="") | Q(model="")),
                name="site_door_own_is_named",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.get_kind_display()


def left_by(deleted: Group, origin: Any, model: type[ForGroups]) -> models.QuerySet[Any]:
    """Return the rows of `model`, which is `ForGroups`, that the deletion of groups leaves without one."""
    doomed = {deleted.pk} if isinstance(origin, Group) else set(origin.values_list("pk", flat=True))
    rows, others = model._default_manager, Group.objects.exclude(pk__in=doomed)
    kept = rows.filter(groups__in=others).values("pk")
    return rows.filter(pk__in=rows.filter(groups__in=doomed).values("pk")).exclude(pk__in=kept)


@receiver(pre_delete, sender=Group)
def hide_from_everybody(instance: Group, origin: Any, **_: Any) -> None:
    """Hide the models left without a group by this deletion: otherwise everybody could use them."""
    if left_by(instance, origin, SiteModel).update(enabled=False, is_default=False):
        CatalogState.objects.bump_version()
