"""The prompt library: texts that a person keeps, and inserts into the message box by `/` and a command."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.limits import MAX_COMMAND_CHARS, MAX_PROMPT_TITLE_CHARS

from .publication import PublishableQuerySet


class PromptQuerySet(PublishableQuerySet["Prompt"]):
    def owned_by(self, user: Any) -> Self:
        return self.filter(owner_id=user.pk)


class Prompt(models.Model):
    """A prompt of one person. `command` is unique for each person; `text` can have fields: `{{name}}`.

    It is published to `everybody`, or to the people in `groups`; without either, to nobody.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="prompts",
        db_index=False,  # the constraint's index begins with it
    )
    title = models.CharField(max_length=MAX_PROMPT_TITLE_CHARS)
    command = models.CharField(max_length=MAX_COMMAND_CHARS)
    text = models.TextField()
    everybody = models.BooleanField(default=False)
    groups = models.ManyToManyField(Group, related_name="+", blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(default=timezone.now, editable=False)

    objects = PromptQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("prompt"), _("prompts")
        default_permissions = ()
        permissions = [("publish_prompt", _("Can publish prompts"))]
        constraints = [
            models.UniqueConstraint(fields=["owner", "command"], name="prompt_command_once_per_person"),
            models.CheckConstraint(
                condition=~(Q(title="") | Q(command="") | Q(text="")), name="prompt_is_complete"
            ),
        ]
        indexes = [
            models.Index(fields=["everybody"], condition=Q(everybody=True), name="prompt_for_everybody")
        ]

    def __str__(self) -> str:
        return self.title
