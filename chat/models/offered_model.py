"""Models that this site may offer: their declared and learnt properties, and the administrator's settings."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.db import models
from django.db.models import F, Q
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .model_list import ModelList

REFUSALS = 3  # refusals until a model counts as ended: Cloudflare once refused a model that had not
FORGOTTEN = timedelta(days=1)  # after the last refusal; then the model is tried again
LAST = 1_000  # the default position


class OfferedModelQuerySet(models.QuerySet["OfferedModel"]):
    def count_refusal(self, key: str) -> None:
        """Count one refusal of this model as ended by Cloudflare; start anew a day after the last one."""
        now = timezone.now()
        row = self.filter(pk=key)
        if not row.filter(refused__gt=now - FORGOTTEN).update(refusals=F("refusals") + 1, refused=now):
            row.update(refusals=1, refused=now)

    def put_default(self, key: str) -> None:
        """Make this model the default. Call it in the transaction that checked that it may be."""
        self.filter(is_default=True).exclude(pk=key).update(is_default=False)
        self.filter(pk=key).update(is_default=True)


class OfferedModel(models.Model):
    """A model and the administrator's settings for it.

    `declared` is Cloudflare's description of the model as JSON, empty if its list could not be fetched.
    `learnt_window` and `learnt_output`, in tokens, are limits read from error messages of the model. `gone`
    is the time since which Cloudflare no longer lists it.
    """

    class Source(models.TextChoices):
        BUNDLED = "bundled", _("known to this software")
        SEARCH = "search", _("Cloudflare’s list")
        FINETUNE = "finetune", _("finetune of the account")
        SITE = "site", _("this site’s settings")

    id = models.CharField(max_length=200, primary_key=True, editable=False)
    source = models.CharField(_("known from"), max_length=8, choices=Source, editable=False)
    declared = models.JSONField(default=dict, editable=False)
    learnt_window = models.PositiveBigIntegerField(null=True, editable=False)
    learnt_output = models.PositiveBigIntegerField(null=True, editable=False)
    gone = models.DateTimeField(null=True, editable=False)
    refusals = models.PositiveIntegerField(default=0, editable=False)
    refused = models.DateTimeField(null=True, editable=False)
    shown = models.BooleanField(_("shown"), default=True)
    is_default = models.BooleanField(_("default"), default=False, editable=False)
    position = models.PositiveIntegerField(_("order"), default=LAST)
    own_name = models.CharField(
        _("own name"), max_length=100, default="", blank=True, help_text=_("Instead of its maker’s.")
    )
    groups = models.ManyToManyField(
        Group,
        related_name="+",
        blank=True,
        verbose_name=_("groups"),
        help_text=_("Only people in one of these may use it; where there is none, everybody."),
    )

    objects = OfferedModelQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("model"), _("models")
        default_permissions = ("view", "change")
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=Q(is_default=True), name="offered_model_one_default"
            ),
            models.CheckConstraint(
                condition=Q(is_default=False) | Q(shown=True), name="offered_model_default_is_shown"
            ),
        ]

    def __str__(self) -> str:
        return self.own_name or self.id

    @property
    def has_ended(self) -> bool:
        """True if Cloudflare no longer lists the model, or refused it often and lately enough as ended."""
        refused = self.refused is not None and self.refused > timezone.now() - FORGOTTEN
        return self.gone is not None or (refused and self.refusals >= REFUSALS)


@receiver(pre_delete, sender=Group)
def hide_from_everybody(instance: Group, origin: Any, **_: Any) -> None:
    """Hide the models left without a group by this deletion: otherwise everybody could use them."""
    doomed = {instance.pk} if isinstance(origin, Group) else set(origin.values_list("pk", flat=True))
    link = OfferedModel.groups.through.objects
    kept = link.exclude(group_id__in=doomed).values("offeredmodel_id")
    theirs = OfferedModel.objects.filter(pk__in=link.filter(group_id__in=doomed).values("offeredmodel_id"))
    if theirs.exclude(pk__in=kept).update(shown=False, is_default=False):
        ModelList.objects.bump_version()
