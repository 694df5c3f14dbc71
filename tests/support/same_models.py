"""The models of the tests' process: an engine in it replaces them, for all tests that follow."""

from collections.abc import Iterator

import pytest

from chat.catalog import catalog


@pytest.fixture(autouse=True)
def same_models() -> Iterator[None]:
    """Leave the models as they were."""
    models = catalog.current.get()
    yield
    catalog.current.replace(models)
