"""The pages that may be read, and the names that lead to them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.web.pages import Names, Pages, serving


@pytest.fixture
async def pages(settings: Any) -> AsyncIterator[Pages]:
    """A server on 127.0.0.1, whose pages may be read."""
    settings.READ_PAGE_ALLOWED_HOSTS = [("127.0.0.1", None)]
    async with serving() as found:
        yield found


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    return Names(monkeypatch)
