"""One server for each file of tests: they compare what is stored before and after."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.module_server import database, fake, pseudo_locale_server, server
from tests.support.server import Person, Server
from tests.support.waiting import until

TABLES = ("chat_conversation", "chat_message", "chat_run", "chat_runchunk")


@pytest.fixture
def alice(server: Server) -> Person:
    return server.person("alice")


@pytest.fixture
def hers(alice: Person) -> str:
    """A conversation of alice's."""
    return alice.asked("hello").conversation


@pytest.fixture
def unchanged(database: Database, fake: Fake, hers: Any) -> Iterator[None]:
    """Checks that the test stored nothing beside `hers`, and called nobody."""

    def everything() -> list[Any]:
        return database.each(*(f"SELECT * FROM {table} ORDER BY id" for table in TABLES))

    # An earlier test may have begun a reply with a form, and not waited for it.
    until(lambda: not database.value("SELECT COUNT(*) FROM chat_run WHERE finished IS NULL"))
    before, calls = everything(), len(fake.calls)
    yield
    assert everything() == before
    assert len(fake.calls) == calls
