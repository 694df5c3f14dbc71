"""A reading: a member of staff saw what others wrote. Written once, never changed.

Names and keys are copied, not referred to: a reading outlives the account and the conversation. The database
itself refuses to change or delete a row (see the migrations `readings` and `searches`).
"""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Reading(models.Model):
    """`reader` saw, from the network address `address`, one conversation or a page of the list of them.

    Of a conversation: its `title` and its `owner`. Of a list: the `words` that were searched for, empty where
    none were; whose conversations it showed, its rows of ReadingOwner say.
    """

    class Kind(models.TextChoices):
        CONVERSATION = "conversation", _("Conversation")
        LIST = "list", _("List")

    at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    kind = models.CharField(
        _("kind"), max_length=12, choices=Kind.choices, default=Kind.CONVERSATION, editable=False
    )
    reader_key = models.BigIntegerField(editable=False)
    reader = models.CharField(_("reader"), max_length=150, editable=False)
    owner_key = models.BigIntegerField(editable=False, null=True)
    owner = models.CharField(_("owner"), max_length=150, default="", editable=False)
    conversation = models.UUIDField(editable=False, null=True)
    title = models.CharField(max_length=80, default="", editable=False)
    words = models.TextField(_("search words"), default="", editable=False)
    address = models.GenericIPAddressField(_("address"), null=True, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("reading"), _("readings")
        default_permissions = ("view",)
        ordering = ["-at"]
        indexes = [models.Index(fields=["owner_key", "-at"], name="reading_by_owner")]

    def __str__(self) -> str:
        if self.kind == self.Kind.LIST:
            return _("%(reader)s searched for “%(words)s”") % {"reader": self.reader, "words": self.words}
        words = _("%(reader)s read “%(title)s” of %(owner)s")
        return words % {"reader": self.reader, "title": self.title, "owner": self.owner}


class ReadingOwner(models.Model):
    """One of those whose `conversations`, by their keys, a list showed. As permanent as its reading."""

    # No constraint in the database: neither row is ever deleted.
    reading = models.ForeignKey(Reading, models.DO_NOTHING, related_name="owners", db_constraint=False)
    owner_key = models.BigIntegerField(editable=False)
    owner = models.CharField(max_length=150, editable=False)
    conversations = models.JSONField(default=list, editable=False)

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["owner_key", "-reading"], name="reading_owner_newest")]

    def __str__(self) -> str:
        return self.owner
