"""A message: a node of a conversation's tree. Siblings are versions of one another."""

import uuid
from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection, models
from django.utils import timezone


class Step(NamedTuple):
    """One message on the way from a leaf to the root; `length` in code points."""

    id: uuid.UUID
    role: str
    length: int


# One indexed look-up a step, so a path costs what it is long, whatever else the tree holds.
PATH = """
WITH RECURSIVE path(id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM chat_message WHERE id = %s
    UNION ALL
    SELECT m.id, m.parent_id, path.depth + 1 FROM chat_message m JOIN path ON m.id = path.parent_id
    WHERE path.depth + 1 < %s
)
SELECT m.id, m.role, LENGTH(m.text) FROM path JOIN chat_message m ON m.id = path.id ORDER BY path.depth
"""


class MessageQuerySet(models.QuerySet["Message"]):
    def path(self, leaf: uuid.UUID, limit: int) -> Iterator[Step]:
        """From `leaf` up to the root, at most `limit` messages, newest first."""
        key = Message._meta.pk
        with connection.cursor() as cursor:
            cursor.execute(PATH, [key.get_db_prep_value(leaf, connection), limit])
            for id_, role, length in cursor.fetchall():
                yield Step(key.to_python(id_), role, length)


class Message(models.Model):
    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey("Conversation", models.CASCADE, related_name="messages")
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="children")
    role = models.CharField(max_length=9, choices=Role.choices)
    text = models.TextField(default="", blank=True)
    reasoning = models.TextField(default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = MessageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=["user", "assistant"]), name="message_role"),
            models.CheckConstraint(condition=~models.Q(parent=models.F("id")), name="message_not_own_parent"),
            models.CheckConstraint(
                condition=models.Q(role="assistant") | ~models.Q(text=""), name="message_question_has_text"
            ),
            models.CheckConstraint(
                condition=models.Q(role="user") | models.Q(parent__isnull=False),
                name="message_reply_has_question",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.text[:40]}"
