"""Deleting many rows while others write: few at a time, and resting as long as each batch took."""

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
    """Go on to the end."""
    return False


@contextmanager
def short_transaction() -> Iterator[None]:
    """A transaction; then leave the write lock to others for as long as it was held."""
    started = time.monotonic()
    with write_lock(), transaction.atomic():
        yield
    time.sleep(min(time.monotonic() - started, LONGEST_REST_SECONDS))


def batches_of(rows: QuerySet[Any], stop: Stop) -> Iterator[list[Any]]:
    """The keys of `rows`, some at a time, for a caller who deletes these before it asks for the next."""
    last: list[Any] = []
    while not stop():
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_ROWS])
        if not keys or keys == last:
            return
        yield keys
        last = keys


def delete_all(rows: QuerySet[Any], stop: Stop = never) -> int:
    """Delete all of `rows`. Returns how many rows of this table went."""
    return sum(delete_keys(rows, keys) for keys in batches_of(rows, stop))


def delete_keys(rows: QuerySet[Any], keys: list[Any]) -> int:
    """Delete those of `keys` that still are among `rows`."""
    with short_transaction():
        _, by_table = rows.filter(pk__in=keys).delete()
    return by_table.get(rows.model._meta.label, 0)
