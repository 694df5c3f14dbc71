"""The order of the files of a run."""

import pytest

from tests.support.databases import ROOT
from tests.support.file_order import LONG, LongestFirst


def test_files_have_an_order_without_pytests_cache(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-p no:cacheprovider` leaves the configuration without the attribute."""
    monkeypatch.delattr(request.config, "cache", raising=False)
    order, items = LongestFirst(request.config), [request.node]
    order.pytest_collection_modifyitems(items)
    order.pytest_sessionfinish(request.session)
    assert items == [request.node]


def test_the_long_files_are_there() -> None:
    assert [file for file in LONG if not (ROOT / file).exists()] == []
