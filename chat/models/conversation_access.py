"""Readings: the log of staff members who saw other users' conversations. Written once, never changed.

Names and keys are copied instead of referenced, because a reading outlives the account and the conversation.
The database itself refuses to change a row (see the migration `site_models`), or to delete one without
the permit of `ConversationAccessPrune`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class ConversationAccess(models.Model):
    """One view of a conversation, or of a page of the list of conversations, by a staff member.

    `reader` is the staff member and `address` their network address. For a conversation, `title` and `owner`
    are set. For a list, `words` are the search terms, empty without a search; the owners of the conversations
    that it showed are in ConversationAccessOwner.
    """

    class Kind(models.TextChoices):
        CONVERSATION = "conversation", pgettext_lazy("kind of reading", "Chat")
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
        indexes = [models.Index(fields=["owner_key", "-at"], name="access_by_owner")]

    def __str__(self) -> str:
        if self.kind == self.Kind.LIST:
            return _("%(reader)s searched for “%(words)s”") % {"reader": self.reader, "words": self.words}
        words = _("%(reader)s read “%(title)s” of %(owner)s")
        return words % {"reader": self.reader, "title": self.title, "owner": self.owner}


class ConversationAccessOwner(models.Model):
    """An owner of `conversations` (primary keys) that a list showed. As permanent as its reading."""

    # No constraint in the database: both rows are deleted by pruning only, together.
    access = models.ForeignKey(
        ConversationAccess, models.DO_NOTHING, related_name="owners", db_constraint=False
    )
    owner_key = models.BigIntegerField(editable=False)
    owner = models.CharField(max_length=150, editable=False)
    conversations = models.JSONField(default=list, editable=False)

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["owner_key", "-access"], name="access_owner_newest")]

    def __str__(self) -> str:
        return self.owner


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
