"""Deletion of many rows beside other writers: in small batches, each followed by an equally long pause."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from chat.db import write_lock

BATCH_ROWS = 200
LONGEST_REST_SECONDS = 1.0

Stop = Callable[[], bool]


def never() -> bool:
    """Return False: a `Stop` that never stops."""
    return False


@contextmanager
def short_transaction() -> Iterator[None]:
    """Run the block in a transaction, then sleep for as long as it held the write lock, so others can write.

    The sleep is at most `LONGEST_REST_SECONDS`.
    """
    started = time.monotonic()
    with write_lock(), transaction.atomic():
        yield
    time.sleep(min(time.monotonic() - started, LONGEST_REST_SECONDS))


def batches_of(rows: QuerySet[Any], stop: Stop) -> Iterator[list[Any]]:
    """Yield the primary keys of `rows` in batches. The caller deletes each batch before it takes the next.

    The iteration also ends when a batch comes a second time, because it was not deleted.
    """
    last: list[Any] = []
    while not stop():
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_ROWS])
        if not keys or keys == last:
            return
        yield keys
        last = keys


def delete_all(rows: QuerySet[Any], stop: Stop = never) -> int:
    """Delete `rows` in batches until `stop()`. Return how many rows of their own table were deleted."""
    return sum(delete_keys(rows, keys) for keys in batches_of(rows, stop))


def delete_keys(rows: QuerySet[Any], keys: list[Any]) -> int:
    """Delete those of `keys` that are still among `rows`. Return how many rows of their table that were."""
    with short_transaction():
        _, by_table = rows.filter(pk__in=keys).delete()
    return by_table.get(rows.model._meta.label, 0)
