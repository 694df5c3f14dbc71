"""Title requests: the one request for a conversation's title, with its usage."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from .model_request import ModelRequest, log_indexes


class TitleRequest(ModelRequest):
    """A request for a title, at most one for each conversation.

    It is stored as interrupted before it is sent, which is the right status if the process dies meanwhile.
    """

    class Status(models.TextChoices):
        COMPLETE = "complete", _("Complete")
        INTERRUPTED = "interrupted", _("Interrupted")
        TRUNCATED = "truncated", _("Truncated")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="title_requests", verbose_name=_("person")
    )
    conversation = models.OneToOneField("Conversation", models.CASCADE, related_name="title_request")
    status = models.CharField(_("status"), max_length=11, choices=Status.choices, default=Status.INTERRUPTED)

    class Meta:
        verbose_name, verbose_name_plural = _("title request"), _("title requests")
        default_permissions = ("view",)
        indexes = [
            *log_indexes("title_request"),
            models.Index(fields=["-created"], name="title_request_by_time"),
            # Covers the usage of a person.
            models.Index(
                fields=["user", "created", "model", "prompt_tokens", "completion_tokens"],
                condition=models.Q(completion_tokens__isnull=False),
                name="title_request_usage",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.id}"
