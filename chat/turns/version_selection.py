"""Choosing the version of a message that its conversation shows."""

import uuid

from django.db import transaction
from django.utils import timezone

from chat.db import writing
from chat.models import Conversation, Message, User

from .planner import lock, refuse_where_busy


def select(user: User, message: uuid.UUID) -> Conversation:
    """Show the branch through `message`, down to where it was last read or written.

    Raises Missing and Busy; then nothing has changed.
    """
    with writing(), transaction.atomic():
        conversation = lock(user, message)
        refuse_where_busy(conversation.pk)
        Message.objects.filter(pk=message).update(picked=timezone.now())
        conversation.active_leaf_id = Message.objects.leaf_below(message)
        conversation.save(update_fields=["active_leaf"])
        return conversation
