"""A user's feedback on a reply: thumb up or down, with an optional reason."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.limits import MAX_REASON_CHARS

from .message import Message


class FeedbackQuerySet(models.QuerySet["Feedback"]):
    def with_conversation(self) -> Any:
        """Return the rows with `within`, the id of the conversation.

        It is read from the messages only while there are rows without it.
        """
        if self.filter(conversation=None).exists():
            return self.annotate(within=Coalesce("conversation", "message__conversation"))
        return self.annotate(within=F("conversation"))

    def complete_rows(self) -> int:
        """Fill `conversation` where a version before migration 0041 left it null. Return the number."""
        owner = Message.objects.filter(pk=OuterRef("message")).values("conversation")
        return self.filter(conversation=None).update(conversation=Subquery(owner))


class Feedback(models.Model):
    """`conversation` is that of the message. An index of it saves reading the message.

    It is null only in rows that an older version stored during an upgrade, until the next sweep.
    """

    message = models.OneToOneField("Message", models.CASCADE, related_name="feedback")
    conversation = models.UUIDField(null=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    up = models.BooleanField()
    reason = models.CharField(max_length=MAX_REASON_CHARS, default="", blank=True)
    updated = models.DateTimeField(default=timezone.now)

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        verbose_name = verbose_name_plural = _("feedback")
        indexes = [
            models.Index(fields=["conversation", "up"], name="feedback_by_conversation"),
            models.Index(fields=["up", "conversation"], name="feedback_by_thumb"),
        ]

    def __str__(self) -> str:
        return "up" if self.up else "down"
