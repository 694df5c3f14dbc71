"""The house does not grow unnoticed: whoever passes a bar says what it buys, and moves the bar."""

from collections.abc import Callable

import pytest

from tests.house.sizes import SIZES


@pytest.mark.parametrize(("name", "size", "bar", "wanted"), SIZES, ids=[row[0] for row in SIZES])
def test_no_size_passes_its_bar(name: str, size: Callable[[], int], bar: int, wanted: int) -> None:
    found = size()
    assert found <= bar
    assert bar <= max(wanted, found * 1.1), f"{name}: lower the bar to what is there"
