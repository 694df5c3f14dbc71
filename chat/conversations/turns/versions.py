"""The versions of messages in a stored branch: which is shown, one written by hand, deletion and its undo."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import Conflict, NotFound
from chat.models import Citation, Conversation, Message, Run, SharedLink, User
from chat.models.conversation import UNDELETE_MARGIN
from chat.models.fast_sql import insert
from chat.models.message import BY_HAND
from chat.ownership.recovery import request_stop
from chat.search import index

from .planner import check_not_busy, lock_conversation

MAX_VERSIONS_BY_HAND = 50  # of one reply
DELETED_IDS_PER_STATEMENT = 500


def select_version(user: User, message: uuid.UUID) -> Conversation:
    """Show the branch through `message`, down to the leaf that was selected or written last.

    Return the conversation. Raises NotFound and ConversationBusy; then nothing has changed.
    """
    with write_lock(), transaction.atomic():
        conversation = lock_conversation(user, message)
        check_not_busy(conversation.pk)
        Message.objects.filter(pk=message).update(selected_at=timezone.now())
        conversation.active_leaf_id = Message.objects.active_leaf_below(message)
        conversation.save(update_fields=["active_leaf"])
        return conversation


def write_version(user: User, message: uuid.UUID, text: str) -> Message:
    """Store `text` as a version of the reply `message`, with its citations, and show that version's branch.

    Versions are never overwritten, so of two tabs both keep theirs. An equal text is the version that it
    equals. Raises NotFound, ConversationBusy and Conflict.
    """
    with write_lock(), transaction.atomic():
        conversation = lock_conversation(user, message)
        check_not_busy(conversation.pk)
        edited = conversation.messages.get(pk=message)
        if edited.role != Message.Role.ASSISTANT:
            raise Conflict(_("Only replies can be edited by hand."))
        if text == edited.text:
            return edited
        versions = conversation.messages.filter(parent=edited.parent_id, model=BY_HAND, deleted=None)
        if versions.count() >= MAX_VERSIONS_BY_HAND:
            words = _("A reply can have %(most)s versions edited by hand. Delete some.")
            raise Conflict(words % {"most": MAX_VERSIONS_BY_HAND})
        version = Message(
            conversation=conversation,
            parent_id=edited.parent_id,
            role=Message.Role.ASSISTANT,
            text=text,
            model=BY_HAND,
        )
        insert(version)
        Citation.objects.add(version.pk, Citation.objects.of_messages([message]).get(message, ()))
        index.add([index.message_of(version, user.pk)])
        Conversation.objects.filter(pk=conversation.pk).change(active_leaf=version.pk)
        return version


@dataclass(frozen=True, slots=True)
class DeletedBranch:
    """The result of a deletion: the new active leaf, and the live runs that the caller has to stop."""

    conversation: uuid.UUID
    leaf: uuid.UUID | None
    runs: list[Run]


def delete_branch(user: User, message: uuid.UUID) -> DeletedBranch:
    """Delete a message, all messages below it, and the shared links to them. Raises NotFound.

    If the active branch is deleted, show the version beside the message, or the branch up to its parent.
    """
    with write_lock(), transaction.atomic():
        conversation = lock_conversation(user, message)
        top = conversation.messages.get(pk=message)
        keys = Message.objects.below(message, deleted=None)
        _mark(keys, timezone.now())
        _end_links(keys)
        runs = request_stop(Run.objects.filter(conversation=conversation, message__deleted__isnull=False))
        if conversation.active_leaf_id in set(keys):
            conversation.active_leaf_id = _leaf_beside(conversation, top)
        _save(conversation)
        return DeletedBranch(conversation.pk, conversation.active_leaf_id, runs)


def restore_branch(user: User, message: uuid.UUID) -> Conversation:
    """Undo `delete_branch`, and show the branch again unless a reply is being written in another one.

    A message that is not deleted stays unchanged. Raises NotFound, also if the message above it is deleted.
    """
    with write_lock(), transaction.atomic():
        found = Conversation.objects.owned_by(user).filter(messages=message)
        conversation = found.select_for_update(of=("self",), no_key=True).first()
        if conversation is None:
            raise NotFound(_("This message doesn’t exist."))
        top = conversation.messages.select_related("parent").get(pk=message)
        if top.deleted is None:
            return conversation
        if not _is_recoverable(top):
            raise NotFound(_("This message doesn’t exist."))
        _mark(Message.objects.below(message, deleted=top.deleted), None)
        if not Run.objects.live().filter(conversation=conversation).exists():
            Message.objects.filter(pk=message).update(selected_at=timezone.now())
            conversation.active_leaf_id = Message.objects.active_leaf_below(message)
        _save(conversation)
        return conversation


def recoverable(conversation: Conversation, message: uuid.UUID) -> Message | None:
    """Return the message of this conversation if its deletion can be undone, otherwise None."""
    found = conversation.messages.filter(pk=message).select_related("parent").first()
    return found if found and found.deleted and _is_recoverable(found) else None


def _is_recoverable(message: Message) -> bool:
    """Return True if its parent exists and pruning is not due within UNDELETE_MARGIN."""
    if message.parent and message.parent.deleted:
        return False
    days = settings.KEEP_DELETED_DAYS
    assert message.deleted
    return not days or message.deleted > timezone.now() - timedelta(days=days) + UNDELETE_MARGIN


def _mark(keys: list[uuid.UUID], deleted: datetime | None) -> None:
    for start in range(0, len(keys), DELETED_IDS_PER_STATEMENT):
        Message.objects.filter(pk__in=keys[start : start + DELETED_IDS_PER_STATEMENT]).update(deleted=deleted)


def _end_links(keys: list[uuid.UUID]) -> None:
    for start in range(0, len(keys), DELETED_IDS_PER_STATEMENT):
        SharedLink.objects.filter(leaf__in=keys[start : start + DELETED_IDS_PER_STATEMENT]).delete()


def _leaf_beside(conversation: Conversation, top: Message) -> uuid.UUID | None:
    """Return the leaf below the version of `top` that was selected or written last, else its parent."""
    versions = Message.objects.filter(conversation=conversation, parent=top.parent_id, deleted=None)
    chosen = versions.order_by(Coalesce("selected_at", "created").desc(), "-pk")
    other = chosen.values_list("pk", flat=True).first()
    return Message.objects.active_leaf_below(other) if other else top.parent_id


def _save(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).change(active_leaf=conversation.active_leaf_id)
