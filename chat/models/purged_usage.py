"""The usage of purged runs and title requests, which a person's usage still counts."""

from typing import Any

from django.conf import settings
from django.db import connection, models

# As `usage_of` counts them: with the model that answered. A call outlives its run, and counts itself then.
FROM_RUNS = """
INSERT INTO chat_purgedusage (user_id, created, model, prompt_tokens, completion_tokens)
SELECT user_id, created, COALESCE(NULLIF(answered_by, ''), model), prompt_tokens, completion_tokens
FROM chat_run WHERE completion_tokens IS NOT NULL AND message_id IN ({keys})
    AND NOT EXISTS (SELECT 1 FROM chat_call WHERE chat_call.run_id = chat_run.id)
"""
FROM_TITLES = """
INSERT INTO chat_purgedusage (user_id, created, model, prompt_tokens, completion_tokens)
SELECT user_id, created, model, prompt_tokens, completion_tokens
FROM chat_titlerequest WHERE completion_tokens IS NOT NULL AND conversation_id IN ({keys})
"""
PURGED_TABLES = {"Message": FROM_RUNS, "Conversation": FROM_TITLES}


class PurgedUsageManager(models.Manager["PurgedUsage"]):
    def keep(self, model: type[models.Model], keys: list[Any]) -> None:
        """Keep the usage of these messages or conversations, in the transaction that purges them."""
        if not keys:
            return
        sql = PURGED_TABLES[model.__name__].format(keys=", ".join(["%s"] * len(keys)))
        pk = model._meta.pk
        with connection.cursor() as cursor:
            cursor.execute(sql, [pk.get_db_prep_value(key, connection) for key in keys])


class PurgedUsage(models.Model):
    """The tokens of one request whose row is gone, with its text."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="+",
        db_index=False,  # the index below begins with it
    )
    created = models.DateTimeField()
    model = models.CharField(max_length=200)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField()

    objects = PurgedUsageManager()

    class Meta:
        default_permissions = ()
        indexes = [
            # Covers the usage of a person.
            models.Index(
                fields=["user", "created", "model", "prompt_tokens", "completion_tokens"],
                name="purged_usage",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.created}"
