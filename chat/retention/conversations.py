"""Permanent deletion of conversations and of deleted branches, whose usage stays counted.

Messages are deleted from the leaves to the root, so that no deletion cascades and each transaction is short.
"""

import uuid
from typing import Any

from django.db.models import QuerySet

from chat.db.executor import short_transaction
from chat.models import Message, PurgedUsage

from .batches import DELETE_BATCH_ROWS, Stop, batches_of


def delete_conversations(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete conversations one by one until `stop()`. Return the number of those completely deleted."""
    deleted = 0
    for keys in batches_of(rows, stop):
        for key in keys:
            if not _delete_messages(rows, key, stop):
                return deleted
            deleted += _purge(rows, [key])
    return deleted


def _delete_messages(rows: QuerySet[Any], conversation: uuid.UUID, stop: Stop) -> bool:
    """Delete the conversation's messages. Return False if `stop()` ended it early."""
    messages = Message.objects.filter(conversation_id=conversation, conversation__in=rows)
    keys = _leaves_first(conversation)
    for start in range(0, len(keys), DELETE_BATCH_ROWS):
        if stop():
            return False
        _purge(messages, keys[start : start + DELETE_BATCH_ROWS])
    return True


def delete_messages(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete messages until `stop()`, one conversation after another. Return their number."""
    deleted, done = 0, None
    while not stop():
        found = rows.filter(conversation__gt=done) if done else rows
        done = found.order_by("conversation").values_list("conversation", flat=True).first()
        if done is None:
            return deleted
        due = set(rows.filter(conversation=done).values_list("pk", flat=True))
        keys = [key for key in _leaves_first(done) if key in due]
        for start in range(0, len(keys), DELETE_BATCH_ROWS):
            if stop():
                return deleted
            deleted += _purge(rows, keys[start : start + DELETE_BATCH_ROWS])
    return deleted


def _purge(rows: QuerySet[Any], keys: list[uuid.UUID]) -> int:
    """Record the usage of the rows with these keys that are still in `rows`, and delete them.

    Return their number, without cascades.
    """
    with short_transaction():
        present = list(rows.filter(pk__in=keys).values_list("pk", flat=True))
        PurgedUsage.objects.keep(rows.model, present)
        _, by_table = rows.filter(pk__in=present).delete()
    return by_table.get(rows.model._meta.label, 0)


def _leaves_first(conversation: uuid.UUID) -> list[uuid.UUID]:
    """Return the ids of the messages, each child before its parent, so that no deletion cascades."""
    parents = dict(Message.objects.filter(conversation_id=conversation).values_list("pk", "parent_id"))
    depths: dict[uuid.UUID | None, int] = {None: 0}
    for message in parents:
        path = [message]
        while (parent := parents[path[-1]]) not in depths:
            assert parent
            path.append(parent)
        for each in reversed(path):
            depths[each] = depths[parents[each]] + 1
    return sorted(parents, key=lambda message: -depths[message])
