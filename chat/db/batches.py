"""Batches of bounded size, to limit what is in memory and in one transaction at a time."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
Stop = Callable[[], bool]
"""Asked between two batches: True to end there."""


def batches_by_size(
    items: Iterable[T], size: Callable[[T], int], *, max_items: int, max_size: int
) -> Iterator[list[T]]:
    """Yield the items in their order, in batches within both limits; a single item may be larger."""
    batch: list[T] = []
    total = 0
    for item in items:
        item_size = size(item)
        if batch and (len(batch) >= max_items or total + item_size > max_size):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += item_size
    if batch:
        yield batch
