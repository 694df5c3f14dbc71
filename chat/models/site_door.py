"""The doors that the administration chose: names for a few models, which people see first."""

from typing import ClassVar

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from chat.db.executor import write_lock

from .site_model import CatalogState


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
            models.UniqueConstraint(fields=["kind"], condition=~models.Q(kind=""), name="site_door_one_kind"),
            models.CheckConstraint(
                condition=~models.Q(kind="") | ~(models.Q(name="") | models.Q(model="")),
                name="site_door_own_is_named",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.get_kind_display()
