"""A conversation: one person's tree of messages with a model."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

TITLE_LENGTH = 80


def title_from(content: str) -> str:
    """The first line that says something, cut at a word: a title at once, and for free."""
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    line = " ".join(line.split())
    if len(line) <= TITLE_LENGTH:
        return line
    head = line[: TITLE_LENGTH - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[20:] else head) + "…"


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def of(self, user: Any) -> "ConversationQuerySet":
        """What this person may see and write in: their own, not deleted."""
        return self.filter(user_id=user.pk, deleted=None)


class Conversation(models.Model):
    """`active_leaf` ends the branch that is shown; `seen` is when the owner last saw its reply.

    `parameters` are those that its owner chose, whether or not the model of now knows them.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=TITLE_LENGTH)
    model = models.CharField(max_length=200)
    system = models.TextField(default="", blank=True)
    parameters = models.JSONField(default=dict, db_default={}, blank=True)
    active_leaf = models.ForeignKey("Message", models.SET_NULL, null=True, blank=True, related_name="+")
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(_("updated"), default=timezone.now)
    seen = models.DateTimeField(default=timezone.now)
    deleted = models.DateTimeField(null=True, blank=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("conversation"), _("conversations")
        indexes = [models.Index(fields=["user", "-updated"], name="conversation_by_user")]
        constraints = [
            models.CheckConstraint(condition=~models.Q(title=""), name="conversation_has_title"),
            models.CheckConstraint(condition=~models.Q(model=""), name="conversation_has_model"),
        ]

    def __str__(self) -> str:
        return self.title
