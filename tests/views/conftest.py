"""One server for each file of tests: they compare what is stored before and after."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases import Database
from tests.fake_workers_ai import Fake
from tests.file_server import database, fake, server

TABLES = ("chat_conversation", "chat_message", "chat_run", "chat_runchunk")


@pytest.fixture
def unchanged(database: Database, fake: Fake, hers: Any) -> Iterator[None]:
    """Checks that the test stored nothing beside `hers`, and called nobody."""

    def everything() -> list[Any]:
        return [database.rows(f"SELECT * FROM {table} ORDER BY id") for table in TABLES]

    before, calls = everything(), len(fake.calls)
    yield
    assert everything() == before
    assert len(fake.calls) == calls
