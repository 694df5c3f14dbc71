"""One server for each file of tests: they compare what is stored before and after."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases import Database, Template
from tests.fake_workers_ai import Fake
from tests.server import Server, Servers


@pytest.fixture(scope="module")
def fake() -> Iterator[Fake]:
    made = Fake()
    yield made
    made.close()


@pytest.fixture(scope="module")
def database(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    made = template.copy(tmp_path_factory.mktemp("database"))
    yield made
    made.drop()


@pytest.fixture(scope="module")
def server(
    template: Template, database: Database, fake: Fake, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    made = Servers(template, database, fake, tmp_path_factory.mktemp("server"))
    yield made.start()
    made.end()


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
