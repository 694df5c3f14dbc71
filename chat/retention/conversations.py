"""Permanent deletion of conversations: first their messages, from the leaves to the root."""

import uuid
from typing import Any

from django.db.models import QuerySet

from chat.models import Message

from .batches import BATCH_ROWS, Stop, batches_of, delete_keys


def delete_conversations(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete conversations one by one until `stop()`. Return how many were deleted.

    A long conversation takes many transactions, of which the last deletes its own row.
    """
    deleted = 0
    for keys in batches_of(rows, stop):
        for key in keys:
            if not _delete_messages(rows, key, stop):
                return deleted
            deleted += delete_keys(rows, [key])
    return deleted


def _delete_messages(rows: QuerySet[Any], conversation: uuid.UUID, stop: Stop) -> bool:
    """Delete the conversation's messages. Return False if `stop()` ended it early."""
    messages = Message.objects.filter(conversation_id=conversation, conversation__in=rows)
    keys = _leaves_first(conversation)
    for start in range(0, len(keys), BATCH_ROWS):
        if stop():
            return False
        delete_keys(messages, keys[start : start + BATCH_ROWS])
    return True


def _leaves_first(conversation: uuid.UUID) -> list[uuid.UUID]:
    """Return the ids of the messages, each child before its parent, so that no deletion cascades."""
    parents = dict(Message.objects.filter(conversation_id=conversation).values_list("pk", "parent_id"))
    depths: dict[uuid.UUID | None, int] = {None: 0}
    for message in parents:
        way = [message]
        while (parent := parents[way[-1]]) not in depths:
            assert parent
            way.append(parent)
        for each in reversed(way):
            depths[each] = depths[parents[each]] + 1
    return sorted(parents, key=lambda message: -depths[message])
