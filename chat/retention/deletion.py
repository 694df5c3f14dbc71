"""Deletion of many rows in small batches, with pauses in which others can write.

The usage of purged conversations and messages stays counted. Messages are deleted from the leaves to the
root, so that no deletion cascades and each transaction is short.
"""

import uuid
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from chat.db.batches import Stop
from chat.db.executor import short_transaction
from chat.models import Message, PurgedUsage

DELETE_BATCH_ROWS = 200


def never() -> bool:
    """Return False: a `Stop` that never stops."""
    return False


def batches_of(rows: QuerySet[Any], stop: Stop) -> Iterator[list[Any]]:
    """Yield the primary keys of `rows` in batches, of which the caller deletes each before the next.

    A batch that was not deleted would be yielded again for ever, so the iteration ends then.
    """
    last: list[Any] = []
    while not stop():
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:DELETE_BATCH_ROWS])
        if not keys or keys == last:
            return
        yield keys
        last = keys


def delete_all(rows: QuerySet[Any], stop: Stop = never) -> int:
    """Delete `rows` in batches until `stop()`. Return their number, without rows deleted by cascade."""
    return sum(delete_keys(rows, keys) for keys in batches_of(rows, stop))


def delete_keys(rows: QuerySet[Any], keys: list[Any], *, keep_usage: bool = False) -> int:
    """Delete the rows with these keys that are still in `rows`. Return their number, without cascades.

    `keep_usage`: they are conversations or messages, whose usage is recorded first.
    """
    with short_transaction():
        due = rows.filter(pk__in=keys)
        if keep_usage:
            present = list(due.values_list("pk", flat=True))
            PurgedUsage.objects.keep(rows.model, present)
            due = rows.filter(pk__in=present)
        _, by_table = due.delete()
    return by_table.get(rows.model._meta.label, 0)


def delete_conversations(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete conversations one by one until `stop()`. Return the number of those completely deleted."""
    deleted = 0
    for keys in batches_of(rows, stop):
        for key in keys:
            _delete_within(key, Message.objects.filter(conversation__in=rows), stop)
            if stop():
                return deleted
            deleted += delete_keys(rows, [key], keep_usage=True)
    return deleted


def delete_messages(rows: QuerySet[Any], stop: Stop) -> int:
    """Delete messages until `stop()`, one conversation after another. Return their number."""
    deleted, done = 0, None
    while not stop():
        found = rows.filter(conversation__gt=done) if done else rows
        done = found.order_by("conversation").values_list("conversation", flat=True).first()
        if done is None:
            break
        deleted += _delete_within(done, rows, stop)
    return deleted


def _delete_within(conversation: uuid.UUID, rows: QuerySet[Any], stop: Stop) -> int:
    """Delete those `rows` that are messages of the conversation, until `stop()`. Return their number."""
    messages, deleted = rows.filter(conversation_id=conversation), 0
    due = set(messages.values_list("pk", flat=True))
    keys = [key for key in _leaves_first(conversation) if key in due]
    for start in range(0, len(keys), DELETE_BATCH_ROWS):
        if stop():
            break
        deleted += delete_keys(messages, keys[start : start + DELETE_BATCH_ROWS], keep_usage=True)
    return deleted


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
