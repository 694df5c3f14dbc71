"""Batches of bounded size."""

import pytest

from chat.db.batches import batches_by_size


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([1], [[1]]),
        ([1, 1, 1, 1], [[1, 1, 1], [1]]),  # at most 3 items
        ([4, 6, 1], [[4, 6], [1]]),  # at most 10 in all
        ([4, 7, 1], [[4], [7, 1]]),
        ([1, 99, 1], [[1], [99], [1]]),  # one item may be larger
    ],
)
def test_batches_keep_both_limits_and_the_order(sizes: list[int], expected: list[list[int]]) -> None:
    assert list(batches_by_size(sizes, lambda size: size, max_items=3, max_size=10)) == expected


def test_a_batch_is_yielded_before_the_next_item_but_one_is_read() -> None:
    read = []

    def items() -> object:
        for number in range(10):
            read.append(number)
            yield number

    next(batches_by_size(items(), lambda _: 1, max_items=3, max_size=10))  # type: ignore[arg-type]
    assert read == [0, 1, 2, 3]
