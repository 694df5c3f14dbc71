"""Conversations: each is a tree of messages between one user and a model. Tags group them."""

import hashlib
import unicodedata
import uuid
from dataclasses import astuple, dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, models
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.limits import MAX_TAG_CHARS, TITLE_LENGTH

MAX_FOLDED_TAG_CHARS = 3 * MAX_TAG_CHARS  # a case-folded character takes at most three
TICK = timedelta(microseconds=1)
UNDELETE_MARGIN = timedelta(hours=1)  # no undelete this close before pruning, because clocks may differ


def fold(name: str) -> str:
    """Return the name case-folded: two names with the same result are one tag."""
    return unicodedata.normalize("NFC", name).casefold()


class TagQuerySet(models.QuerySet["Tag"]):
    def owned_by(self, user: Any) -> "TagQuerySet":
        return self.filter(user_id=user.pk)


class Tag(models.Model):
    """A tag of one person. `folded` is the name as `fold` returns it, which is unique for each person."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="tags",
        db_index=False,  # the constraint's index begins with it
    )
    name = models.CharField(max_length=MAX_TAG_CHARS)
    folded = models.CharField(max_length=MAX_FOLDED_TAG_CHARS, editable=False)

    objects = TagQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("tag"), _("tags")
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "folded"], name="tag_once_per_person"),
            models.CheckConstraint(condition=~models.Q(folded=""), name="tag_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


def title_from(content: str) -> str:
    """Return the first line that is not blank, cut to `TITLE_LENGTH` at the end of a word."""
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    line = " ".join(line.split())
    if len(line) <= TITLE_LENGTH:
        return line
    head = line[: TITLE_LENGTH - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[20:] else head) + "…"


# Each visible page runs this every second or two: two rows by primary key, the run found by one index.
STATE_SQL = """
SELECT c.title, c.active_leaf_id, r.id, r.status, r.model, r.context_start
FROM chat_conversation c LEFT JOIN chat_run r ON r.id = (
    SELECT id FROM chat_run WHERE message_id = c.active_leaf_id ORDER BY created DESC LIMIT 1
)
WHERE c.id = %s AND c.user_id = %s AND c.deleted IS NULL
"""


@dataclass(frozen=True, slots=True)
class ConversationState:
    """The state of a conversation that an open page shows, and updates when it changes.

    `run` is the newest run of the message `leaf`; `context_start` is the oldest message in that run's prompt.
    """

    title: str
    leaf: uuid.UUID | None
    run: uuid.UUID | None = None
    status: str = ""
    model: str = ""
    context_start: uuid.UUID | None = None

    @property
    def version(self) -> str:
        """The hash of the state, which is the value of the `ETag`."""
        return hashlib.blake2s(repr(astuple(self)).encode(), digest_size=12).hexdigest()


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def owned_by(self, user: Any) -> "ConversationQuerySet":
        """Return the conversations that the user may read and write: their own, not deleted."""
        return self.filter(user_id=user.pk, deleted=None)

    def listed(self, user: Any) -> "ConversationQuerySet":
        """Return the user's conversations in the list: those neither archived nor temporary."""
        # SQLite uses the partial index `conversation_listed` only if the query repeats its condition.
        return self.owned_by(user).filter(archived_at=None, temporary=False)

    def pinned(self, user: Any) -> "ConversationQuerySet":
        return self.owned_by(user).filter(pinned_at__isnull=False)

    def archived(self, user: Any) -> "ConversationQuerySet":
        return self.owned_by(user).filter(archived_at__isnull=False)

    def trashed(self, user: Any) -> "ConversationQuerySet":
        """Return the user's deleted conversations that can be restored."""
        return self.filter(user_id=user.pk).recoverable()

    def recoverable(self) -> "ConversationQuerySet":
        """Return the deleted conversations that pruning does not delete for good within `UNDELETE_MARGIN`."""
        deleted = self.filter(deleted__isnull=False, temporary=False)
        if not settings.KEEP_DELETED_DAYS:
            return deleted
        return deleted.filter(
            deleted__gt=timezone.now() - timedelta(days=settings.KEEP_DELETED_DAYS) + UNDELETE_MARGIN
        )

    def change(self, **columns: Any) -> int:
        """Set these columns so that a turn which was planned before is planned again. Return the row count.

        A plan is made before its rows are locked. So a change of the messages must be announced by this, in
        its own transaction.
        """
        return self.update(**columns, updated=F("updated") + TICK)

    def state(self, user: Any, conversation: uuid.UUID) -> ConversationState | None:
        """Return the state of the user's conversation, None if there is none. One query, no message text."""
        key = Conversation._meta.pk
        with connection.cursor() as cursor:
            cursor.execute(STATE_SQL, [key.get_db_prep_value(conversation, connection), user.pk])
            row = cursor.fetchone()
        if row is None:
            return None
        title, leaf, run, status, model, context_start = row
        ids = (key.to_python(value) for value in (leaf, run, context_start))
        leaf, run, context_start = ids
        return ConversationState(title, leaf, run, status or "", model or "", context_start)


class Conversation(models.Model):
    """A conversation of one user.

    `active_leaf` is the last message of the branch that is shown. `last_seen` is the time up to which the
    owner has seen its replies. `parameters` are the owner's choices, including those that the present model
    does not support. `tools` are the names of the tools that replies may use, and
    `allowed_calls` the keys of the permissions that the owner has given for all of it. `pinned_at` or
    `archived_at` is set while it is pinned or archived, never both.

    `assistant_version` is the one that it began with; later edits of the assistant do not change it.

    A `temporary` one is in no list and no search, has no generated title, and is purged when it is closed.

    Only while `title_state` is FIRST_LINE may a title be requested from a model, and only while it is
    REQUESTED may that title be stored. The owner's rename makes it FINAL.
    """

    class TitleState(models.TextChoices):
        FIRST_LINE = "first_line"
        REQUESTED = "requested"
        FINAL = "final"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=TITLE_LENGTH)
    title_state = models.CharField(
        max_length=10, choices=TitleState.choices, default=TitleState.FINAL, db_default=TitleState.FINAL
    )
    model = models.CharField(max_length=200)
    system = models.TextField(default="", blank=True)
    parameters = models.JSONField(default=dict, db_default={}, blank=True)
    tools = models.JSONField(default=list, db_default=[], blank=True)
    allowed_calls = models.JSONField(default=list, db_default=[], blank=True, editable=False)
    active_leaf = models.ForeignKey("Message", models.SET_NULL, null=True, blank=True, related_name="+")
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(_("updated"), default=timezone.now)
    last_seen = models.DateTimeField(default=timezone.now)
    deleted = models.DateTimeField(null=True, blank=True)
    pinned_at = models.DateTimeField(_("pinned"), null=True, blank=True)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)
    temporary = models.BooleanField(_("temporary"), default=False, db_default=False)
    assistant_version = models.ForeignKey(
        "AssistantVersion",
        models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        editable=False,
        related_name="conversations",
    )
    tags: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(
        "Tag", related_name="conversations", blank=True
    )

    objects = ConversationQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("chat"), _("chats")
        # A list reads the rows that it shows, however many others there are: each has an index of its own.
        indexes = [
            models.Index(fields=["user", "-updated"], name="conversation_by_user"),
            # The administration's lists, of which the second also finds the names of all models.
            models.Index(fields=["updated", "id"], name="conversation_by_time"),
            models.Index(fields=["model", "updated", "id"], name="conversation_by_model"),
            models.Index(
                fields=["deleted"], condition=models.Q(deleted__isnull=False), name="conversation_deleted_all"
            ),
            # The administration's list of deleted conversations, in both of its orders.
            models.Index(
                fields=["updated", "id"],
                condition=models.Q(deleted__isnull=False),
                name="conversation_deleted_by_time",
            ),
            models.Index(
                fields=["model", "updated", "id"],
                condition=models.Q(deleted__isnull=False),
                name="conversation_deleted_by_model",
            ),
            # The order in which the search index is built.
            models.Index(fields=["created", "id"], name="conversation_by_creation"),
            models.Index(
                fields=["user", "-updated"],
                condition=models.Q(deleted=None, archived_at=None, temporary=False),
                name="conversation_listed",
            ),
            models.Index(
                fields=["user", "-pinned_at"],
                condition=models.Q(deleted=None, pinned_at__isnull=False),
                name="conversation_pinned",
            ),
            models.Index(
                fields=["user", "-archived_at"],
                condition=models.Q(deleted=None, archived_at__isnull=False),
                name="conversation_archived",
            ),
            models.Index(
                fields=["user", "-deleted"],
                condition=models.Q(deleted__isnull=False, temporary=False),
                name="conversation_deleted",
            ),
            models.Index(
                fields=["updated"], condition=models.Q(temporary=True), name="conversation_temporary"
            ),
            models.Index(
                fields=["assistant_version"],
                condition=models.Q(assistant_version__isnull=False),
                name="conversation_by_assistant",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=~models.Q(title=""), name="conversation_has_title"),
            models.CheckConstraint(condition=~models.Q(model=""), name="conversation_has_model"),
        ]

    def __str__(self) -> str:
        return self.title
