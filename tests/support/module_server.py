"""One server for a whole file of tests, for those that do not kill or restart it."""

from collections.abc import Iterator

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


@pytest.fixture(scope="module")
def server(
    template: Template, database: Database, fake: Fake, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    made = Servers(template, database, fake, tmp_path_factory.mktemp("server"))
    yield made.start()
    made.end()


@pytest.fixture(scope="module")
def pseudo_locale_server(
    template: Template, database: Database, fake: Fake, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server with two more languages: one longer than English, one from right to left."""
    made = Servers(template, database, fake, tmp_path_factory.mktemp("server"))
    yield made.start(DJANGO_SETTINGS_MODULE="tests.support.pseudo_locale_settings")
    made.end()
