"""The attempts at an imported reply, as its file describes them."""

from django.db import models


class ImportedRuns(models.Model):
    """The attempts at one imported reply, as JSON, kept for the next export.

    They are not `Run`s, because they were made elsewhere and must not count in usage, costs or statistics.
    """

    message = models.OneToOneField("Message", models.CASCADE, primary_key=True, related_name="imported_runs")
    runs = models.JSONField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.message_id)
