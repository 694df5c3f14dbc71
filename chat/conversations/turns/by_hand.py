"""Versions of replies that the owner of the conversation writes: the next question goes on from them."""

import uuid

from django.db import transaction
from django.utils.translation import gettext

from chat.db.executor import write_lock
from chat.exceptions import Conflict
from chat.models import Conversation, Message, User
from chat.models.fast_sql import insert
from chat.models.message import BY_HAND
from chat.search import index

from .planner import check_not_busy, lock_conversation

MAX_VERSIONS_BY_HAND = 50  # of one reply


def write_version(user: User, message: uuid.UUID, text: str) -> Message:
    """Store `text` as a version of the reply `message`, and show the branch that ends with it.

    Versions are never overwritten, so of two tabs both keep theirs. An equal text is the version that it
    equals. Raises NotFound, ConversationBusy and Conflict.
    """
    with write_lock(), transaction.atomic():
        conversation = lock_conversation(user, message)
        check_not_busy(conversation.pk)
        edited = conversation.messages.get(pk=message)
        if edited.role != Message.Role.ASSISTANT:
            raise Conflict(gettext("Only replies can be edited by hand."))
        if text == edited.text:
            return edited
        versions = conversation.messages.filter(parent=edited.parent_id, model=BY_HAND, deleted=None)
        if versions.count() >= MAX_VERSIONS_BY_HAND:
            words = gettext("A reply can have %(most)s versions edited by hand. Delete some.")
            raise Conflict(words % {"most": MAX_VERSIONS_BY_HAND})
        version = Message(
            conversation=conversation,
            parent_id=edited.parent_id,
            role=Message.Role.ASSISTANT,
            text=text,
            model=BY_HAND,
        )
        insert(version)
        index.add([index.message_of(version, user.pk)])
        Conversation.objects.filter(pk=conversation.pk).change(active_leaf=version.pk)
        return version
