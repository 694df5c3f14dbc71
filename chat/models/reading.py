"""A reading: a member of staff looked into another person's conversation. Written once, never changed.

Names and keys are copied, not referred to: a reading outlives the account and the conversation. The database
itself refuses to change or delete a row (see the migration `readings`).
"""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Reading(models.Model):
    """`reader` read the conversation `title` of `owner`, from the network address `address`."""

    at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    reader_key = models.BigIntegerField(editable=False)
    reader = models.CharField(_("reader"), max_length=150, editable=False)
    owner_key = models.BigIntegerField(editable=False)
    owner = models.CharField(_("owner"), max_length=150, editable=False)
    conversation = models.UUIDField(editable=False)
    title = models.CharField(max_length=80, editable=False)
    address = models.GenericIPAddressField(_("address"), null=True, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("reading"), _("readings")
        default_permissions = ("view",)
        ordering = ["-at"]
        indexes = [models.Index(fields=["owner_key", "-at"], name="reading_by_owner")]

    def __str__(self) -> str:
        words = _("%(reader)s read “%(title)s” of %(owner)s")
        return words % {"reader": self.reader, "title": self.title, "owner": self.owner}
