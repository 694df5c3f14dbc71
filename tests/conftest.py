"""Real parts: a server on a free port, a database of each test's own, a fake of Cloudflare only."""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from tests.databases import POSTGRES, Database, Template
from tests.fake_workers_ai import Fake
from tests.server import Server

REDIS = os.environ.get("TEST_REDIS", "redis://127.0.0.1:6379/15")


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
        try:
            psycopg.connect(POSTGRES, connect_timeout=3).close()
        except psycopg.OperationalError as error:
            missing("PostgreSQL", error)
    made = Template(tmp_path_factory.mktemp("template"), kind)
    yield made
    made.drop()


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
    """Start servers on this test's database; each further one is another process, with its own data folder
    where `apart` says so."""
    made: list[Server] = []

    def start(*, apart: bool = False, **env: str) -> Server:
        folder = tmp_path / f"apart-{uuid.uuid4().hex}" if apart else tmp_path
        folder.mkdir(exist_ok=True)
        if not (folder / "static").exists():
            template.static_for(folder)
        upstream = {
            "CLOUDFLARE_ACCOUNT_ID": "acc",
            "CLOUDFLARE_API_TOKEN": "fake-token",
            "CLOUDFLARE_API_BASE_URL": f"{fake.url}/client/v4",
        }
        server = Server(folder, database, SECRET_KEY=template.secret_key, **{**upstream, **env})
        made.append(server)
        return server.start()

    yield start
    for server in made:
        server.end()


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
