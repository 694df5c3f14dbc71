"""One server for a whole file of tests, for those that do not kill or restart it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database, Template
from tests.support.server import Server, Servers


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


def server_with(**settings: str) -> Any:
    """Return a fixture: a file's server with these settings."""

    @pytest.fixture(scope="module")
    def made(
        template: Template, database: Database, fake: Fake, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[Server]:
        servers = Servers(template, database, fake, tmp_path_factory.mktemp("server"))
        yield servers.start(**settings)
        servers.end()

    return made


server = server_with()
# Two more languages: one longer than English, one from right to left.
pseudo_locale_server = server_with(DJANGO_SETTINGS_MODULE="tests.support.pseudo_locale_settings")
