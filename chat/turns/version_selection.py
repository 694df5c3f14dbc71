"""Select the version of a message that its conversation shows."""

import uuid

from django.db import transaction
from django.utils import timezone

from chat.db import write_lock
from chat.models import Conversation, Message, User

from .planner import check_not_busy, lock_conversation


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
