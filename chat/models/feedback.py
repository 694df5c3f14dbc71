"""A user's feedback on a reply: thumb up or down, with an optional reason."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

LONGEST_REASON = 1_000  # code points


class Feedback(models.Model):
    message = models.OneToOneField("Message", models.CASCADE, related_name="feedback")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    up = models.BooleanField()
    reason = models.CharField(max_length=LONGEST_REASON, default="", blank=True)
    updated = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = verbose_name_plural = _("feedback")

    def __str__(self) -> str:
        return "up" if self.up else "down"
