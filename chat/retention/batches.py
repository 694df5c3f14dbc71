"""Deletion of many rows in small batches, with pauses in which others can write."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import QuerySet

from chat.db.executor import short_transaction

DELETE_BATCH_ROWS = 200

Stop = Callable[[], bool]


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


def delete_keys(rows: QuerySet[Any], keys: list[Any]) -> int:
    """Delete the rows with these keys that are still in `rows`. Return their number, without cascades."""
    with short_transaction():
        _, by_table = rows.filter(pk__in=keys).delete()
    return by_table.get(rows.model._meta.label, 0)
