"""Real parts: a server on a free port, a database of each test's own, a fake of Cloudflare only."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from hypothesis import HealthCheck, settings

from tests.databases import POSTGRES, Database, Template
from tests.fake_workers_ai import Fake
from tests.server import Server, Servers

REDIS = os.environ.get("TEST_REDIS", "redis://127.0.0.1:6379/15")
# How long an example takes, and how long it takes to make one, says only how busy the machine is.
settings.register_profile(
    "unhurried", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database", choices=("sqlite", "postgres"), default="sqlite", help="what the servers log to"
    )


def missing(what: str, why: Exception | str) -> None:
    """Skip where a machine lacks a part; fail where it must be there."""
    reason = f"{what} is not there: {why}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    kind = request.config.getoption("--database")
    if kind == "postgres":
        require_postgres()
    made = Template(tmp_path_factory.mktemp("template"), kind)
    yield made
    made.drop()


@pytest.fixture(scope="session")
def on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    """PostgreSQL, whatever `--database` says."""
    require_postgres()
    made = Template(tmp_path_factory.mktemp("template"), "postgres")
    yield made
    made.drop()


def require_postgres() -> None:
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        missing("PostgreSQL", error)


@pytest.fixture
def fake() -> Iterator[Fake]:
    """Cloudflare, on loopback."""
    made = Fake()
    yield made
    made.close()


@pytest.fixture
def database(template: Template, tmp_path: Path) -> Iterator[Database]:
    made = template.copy(tmp_path)
    yield made
    made.drop()


@pytest.fixture
def servers(
    template: Template, database: Database, fake: Fake, tmp_path: Path
) -> Iterator[Callable[..., Server]]:
    """Start servers on this test's database; each further one is another process."""
    made = Servers(template, database, fake, tmp_path)
    yield made.start
    made.end()


@pytest.fixture
def server(servers: Callable[..., Server]) -> Server:
    return servers()


@pytest.fixture
def redis_url() -> str:
    try:
        redis.Redis.from_url(REDIS).ping()
    except redis.ConnectionError as error:
        missing("Redis", error)
    return REDIS
