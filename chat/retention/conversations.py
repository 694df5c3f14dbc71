"""Conversations that were deleted long ago: their messages first, from the leaves to the root."""

import uuid
from typing import Any

from django.db.models import QuerySet

from chat.models import Message

from .batches import BATCH_ROWS, Stop, batches_of, delete_keys


def delete_conversations(rows: QuerySet[Any], stop: Stop) -> int:
    """One after another. A long one goes in many transactions, its own row in the last one."""
    deleted = 0
    for keys in batches_of(rows, stop):
        for key in keys:
            if not _delete_messages(rows, key, stop):
                return deleted
            deleted += delete_keys(rows, [key])
    return deleted


def _delete_messages(rows: QuerySet[Any], conversation: uuid.UUID, stop: Stop) -> bool:
    """Says whether it came to the end."""
    messages = Message.objects.filter(conversation_id=conversation, conversation__in=rows)
    keys = _leaves_first(conversation)
    for start in range(0, len(keys), BATCH_ROWS):
        if stop():
            return False
        delete_keys(messages, keys[start : start + BATCH_ROWS])
    return True


def _leaves_first(conversation: uuid.UUID) -> list[uuid.UUID]:
    """The messages, each before the one that it answers, so that none takes others with it."""
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
