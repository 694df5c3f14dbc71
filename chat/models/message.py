"""Messages: the nodes of a conversation's tree. Siblings are versions of one another. Users rate replies."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, models
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.limits import MAX_REASON_CHARS


class PathNode(NamedTuple):
    """A message on the path from a leaf to the root; `length` of its text in code points."""

    id: uuid.UUID
    role: str
    length: int


@dataclass(frozen=True, slots=True)
class BranchNode:
    """A message of a branch with its position among its versions: `index` (from 1) of `count`.

    `has_attachments`: attachments belong to it. So with `has_citations` and `has_steps`.
    """

    id: uuid.UUID
    index: int
    count: int
    previous: uuid.UUID | None
    next: uuid.UUID | None
    has_attachments: bool = False
    has_citations: bool = False
    has_steps: bool = False


# One indexed look-up per step: the cost is proportional to the path's length, not to the tree's size.
PATH_SQL = """
WITH RECURSIVE path(id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM chat_message WHERE id = %s
    UNION ALL
    SELECT m.id, m.parent_id, path.depth + 1 FROM chat_message m JOIN path ON m.id = path.parent_id
    WHERE path.depth + 1 < %s
)
SELECT m.id, m.role, LENGTH(m.text) FROM path JOIN chat_message m ON m.id = path.id ORDER BY path.depth
"""

# A branch from its leaf up to and including the message with which the texts exceed `room` code points.
RECENT_BRANCH_SQL = """
WITH RECURSIVE path(id, parent_id, role, text, depth, room) AS (
    SELECT id, parent_id, role, text, 0, %s - LENGTH(text) FROM chat_message WHERE id = %s
    UNION ALL
    SELECT m.id, m.parent_id, m.role, m.text, path.depth + 1, path.room - LENGTH(m.text)
    FROM chat_message m JOIN path ON m.id = path.parent_id WHERE path.depth + 1 < %s AND path.room >= 0
)
SELECT id, role, text, EXISTS (SELECT 1 FROM chat_attachment a WHERE a.message_id = path.id)
FROM path ORDER BY depth
"""

# A branch, with the number of versions of each of its messages. The first questions of a conversation have no
# parent; COALESCE keeps PostgreSQL from scanning those of all conversations. CROSS JOIN makes SQLite begin
# with the path.
BRANCH_SQL = """
WITH RECURSIVE path(id, parent_id, conversation_id, depth) AS (
    SELECT id, parent_id, conversation_id, 0 FROM chat_message WHERE id = %s
    UNION ALL
    SELECT m.id, m.parent_id, m.conversation_id, path.depth + 1
    FROM chat_message m JOIN path ON m.id = path.parent_id WHERE path.depth + 1 < %s
), siblings(id, parent_id, created) AS (
    SELECT m.id, m.parent_id, m.created FROM path CROSS JOIN chat_message m {by_conversation}
    WHERE m.conversation_id = path.conversation_id AND m.parent_id = path.parent_id AND m.deleted IS NULL
    UNION ALL
    SELECT m.id, NULL, m.created FROM path CROSS JOIN chat_message m {by_conversation}
    WHERE m.conversation_id = path.conversation_id AND m.deleted IS NULL
    AND path.parent_id IS NULL AND COALESCE(m.parent_id, m.conversation_id) = path.conversation_id
), versions(id, number, total, previous, next) AS (
    SELECT id, ROW_NUMBER() OVER version, COUNT(*) OVER (PARTITION BY parent_id),
        LAG(id) OVER version, LEAD(id) OVER version
    FROM siblings WINDOW version AS (PARTITION BY parent_id ORDER BY created, id)
)
SELECT versions.*, EXISTS (SELECT 1 FROM chat_attachment a WHERE a.message_id = path.id),
    EXISTS (SELECT 1 FROM chat_citation c WHERE c.message_id = path.id),
    EXISTS (SELECT 1 FROM chat_step s WHERE s.message_id = path.id)
FROM path JOIN versions ON versions.id = path.id ORDER BY path.depth
"""

# The leaf below a message: at each step down, the child last selected or created. Parents cannot change, so
# there is no cycle; the limit guards against rows that other software wrote.
LEAF_BELOW = """
WITH RECURSIVE down(id, conversation_id, depth) AS (
    SELECT id, conversation_id, 0 FROM chat_message WHERE id = %s
    UNION ALL
    SELECT (
        SELECT c.id FROM chat_message c {by_conversation}
        WHERE c.conversation_id = down.conversation_id AND c.parent_id = down.id AND c.deleted IS NULL
        ORDER BY COALESCE(c.selected_at, c.created) DESC, c.id DESC LIMIT 1
    ), conversation_id, depth + 1 FROM down WHERE down.id IS NOT NULL AND depth < %s
)
SELECT id FROM down WHERE id IS NOT NULL ORDER BY depth DESC LIMIT 1
"""
# A message and those below it that were deleted at the same time, or are not deleted.
BELOW_SQL = """
WITH RECURSIVE below(id, conversation_id) AS (
    SELECT id, conversation_id FROM chat_message WHERE id = %s AND {same}
    UNION ALL
    SELECT m.id, m.conversation_id FROM below CROSS JOIN chat_message m {by_conversation}
    WHERE m.conversation_id = below.conversation_id AND m.parent_id = below.id AND m.{same}
)
SELECT id FROM below
"""
# SQLite believes what ANALYZE once counted, however much the table has grown since: after an ANALYZE of a new
# database it would scan all messages at each step.
BY_CONVERSATION = {"sqlite": "INDEXED BY message_by_conversation"}
BY_HAND = "by-hand"  # `model` of a version of a reply that the conversation's owner has written
THUMBS: dict[bool | None, str] = {True: "up", False: "down", None: "none"}
MAX_BRANCH_DEPTH = 100_000  # limit of messages between a message and its leaf


def _with_index(sql: str, **more: str) -> str:
    return sql.format(by_conversation=BY_CONVERSATION.get(connection.vendor, ""), **more)


class MessageQuerySet(models.QuerySet["Message"]):
    def owned_by(self, user: Any) -> "MessageQuerySet":
        """Return the messages that the user may read: their own that are not deleted."""
        return self.filter(conversation__user_id=user.pk, conversation__deleted=None, deleted=None)

    def ancestors(self, leaf: uuid.UUID, limit: int) -> Iterator[PathNode]:
        """Yield the messages from `leaf` up to the root, newest first, at most `limit`."""
        key = Message._meta.pk
        with connection.cursor() as cursor:
            cursor.execute(PATH_SQL, [key.get_db_prep_value(leaf, connection), limit])
            for id_, role, length in cursor.fetchall():
                yield PathNode(key.to_python(id_), role, length)

    def recent(self, leaf: uuid.UUID, limit: int, room: int) -> list[tuple[Any, str, str, bool]]:
        """Return (id in the database's own form, role, text, has attachments) from `leaf` up, newest first.

        At most `limit` messages, ending with the one that makes the texts exceed `room` code points. One
        query and no model instances, because every send reads its branch, which may be long.
        """
        key = Message._meta.pk
        with connection.cursor() as cursor:
            cursor.execute(RECENT_BRANCH_SQL, [room, key.get_db_prep_value(leaf, connection), limit])
            return cursor.fetchall()

    def branch(self, leaf: uuid.UUID, limit: int) -> list[BranchNode]:
        """Return the messages from `leaf` up to the root, at most `limit`, with their versions."""
        key = Message._meta.pk
        with connection.cursor() as cursor:
            cursor.execute(_with_index(BRANCH_SQL), [key.get_db_prep_value(leaf, connection), limit])
            return [
                BranchNode(
                    key.to_python(id_),
                    index,
                    count,
                    key.to_python(previous),
                    key.to_python(next_),
                    *map(bool, has),
                )
                for id_, index, count, previous, next_, *has in cursor.fetchall()
            ]

    def active_leaf_below(self, message: uuid.UUID) -> uuid.UUID:
        """Return the leaf of the branch through `message` that was last selected or written."""
        key = Message._meta.pk
        with connection.cursor() as cursor:
            cursor.execute(
                _with_index(LEAF_BELOW), [key.get_db_prep_value(message, connection), MAX_BRANCH_DEPTH]
            )
            return key.to_python(cursor.fetchone()[0])

    def below(self, message: uuid.UUID, deleted: datetime | None) -> list[uuid.UUID]:
        """Return the ids of `message` and all below it whose `deleted` is the given one."""
        key, moment = Message._meta.pk, Message._meta.get_field("deleted")
        same = "deleted IS NULL" if deleted is None else "deleted = %s"
        at = [] if deleted is None else [moment.get_db_prep_value(deleted, connection)]
        with connection.cursor() as cursor:
            sql = _with_index(BELOW_SQL, same=same)
            cursor.execute(sql, [key.get_db_prep_value(message, connection), *at, *at])
            return [key.to_python(id_) for (id_,) in cursor.fetchall()]


class Message(models.Model):
    """A question or a reply. `selected_at` is the time when the user last switched to this version.

    `deleted` is set for a deleted message and for all below it, which were deleted at the same time.
    """

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        "Conversation",
        models.CASCADE,
        related_name="messages",
        db_index=False,  # the index below begins with it
    )
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="children")
    role = models.CharField(max_length=9, choices=Role.choices)
    text = models.TextField(default="", blank=True)
    reasoning = models.TextField(default="", blank=True)
    model = models.CharField(max_length=200, default="", blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    selected_at = models.DateTimeField(null=True, blank=True)
    deleted = models.DateTimeField(null=True, blank=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("message"), _("messages")
        # Finds the first questions of a conversation without reading its other rows, whose texts are large.
        indexes = [
            models.Index(fields=["conversation", "parent"], name="message_by_conversation"),
            models.Index(
                fields=["deleted"], condition=models.Q(deleted__isnull=False), name="message_deleted"
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=["user", "assistant"]), name="message_role"),
            models.CheckConstraint(condition=~models.Q(parent=models.F("id")), name="message_not_own_parent"),
            models.CheckConstraint(
                condition=models.Q(role="user") | models.Q(parent__isnull=False),
                name="message_reply_has_question",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.text[:40]}"


class FeedbackQuerySet(models.QuerySet["Feedback"]):
    def with_conversation(self) -> Any:
        """Return the rows with `within`, the id of the conversation.

        It is read from the messages only while there are rows without it.
        """
        if self.filter(conversation=None).exists():
            return self.annotate(within=Coalesce("conversation", "message__conversation"))
        return self.annotate(within=F("conversation"))

    def complete_rows(self) -> int:
        """Fill `conversation` where a version before the first release left it null. Return the number."""
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
        return self.thumb

    @property
    def thumb(self) -> str:
        return THUMBS[self.up]
