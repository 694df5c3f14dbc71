"""Real parts: a server on a free port, a database of each test's own, a fake of Cloudflare only."""

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connections
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.plugin import DjangoDbBlocker

from tests.fake_cloudflare.server import Fake
from tests.support.databases import POSTGRES, REDIS, Database, Template
from tests.support.quick_flush import quick_flush
from tests.support.server import Server, Servers
from tests.tiers import has_only_slow_tests, mark_slow

SERVED = {"chromium", "on_postgres", "server", "servers", "template"}  # with processes beside the test's own
SHARED = "CHAT_TESTS_SHARED"  # the folder that all processes of a run share
# The time that an example takes, or its making, says only how busy the machine is.
hypothesis_settings.register_profile(
    "unhurried", hypothesis_settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("unhurried")


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


def pytest_configure(config: pytest.Config) -> None:
    # A worker of pytest-xdist inherits the environment of the first process.
    if not hasattr(config, "workerinput"):
        os.environ[SHARED] = tempfile.mkdtemp(prefix="chat-shared-")
        os.environ["CHAT_TESTS_DATABASE"] = config.getoption("--database")
    vendor = "postgres" if "postgresql" in settings.DATABASES["default"]["ENGINE"] else "sqlite"
    if vendor != config.getoption("--database"):
        raise pytest.UsageError(
            f"the tests' own process uses {vendor}: write --database=postgres in one word"
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    shared = Path(os.environ.pop(SHARED))
    for kind in ("sqlite", "postgres"):
        if (shared / f"{kind}.pickle").exists():
            Template.shared(shared, kind).drop()
    shutil.rmtree(shared, ignore_errors=True)


def starts_process(item: pytest.Item) -> bool:
    """Return True if the test's module uses `subprocess`, or the test or its helper runs `manage.py`."""
    module = vars(getattr(item, "module", item))
    called = names_in(getattr(item, "function", None))
    helpers = (names_in(module[name]) for name in called & module.keys())
    return "subprocess" in module or "run_manage" in called.union(*helpers)


def names_in(function: object) -> set[str]:
    return set(getattr(getattr(function, "__code__", None), "co_names", ()))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep what is imported and collected, which lives to the end, out of every later garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses among them
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        used = set(getattr(item, "fixturenames", ()))
        if "chromium" in used:
            item.add_marker(pytest.mark.browser)
        if used & SERVED or starts_process(item) or item.get_closest_marker("local"):
            item.add_marker(pytest.mark.process)
    mark_slow(items, config.getoption("--database"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say why a test needed its second run, which nothing else does."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first run of {report.nodeid}")
        terminalreporter.line(report.longreprtext)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files without a test that is asked for: that takes seconds in each process."""
    if not collection_path.name.startswith("test_"):
        return None
    wanted = config.getoption("-m")
    needless = "not slow" in wanted and has_only_slow_tests(
        collection_path.relative_to(config.rootpath).as_posix(), config.getoption("--database")
    )
    if wanted.startswith("database"):
        needless |= "pytest.mark.database" not in collection_path.read_text("utf-8")
    return True if needless else None


@pytest.fixture(scope="session")
def template(request: pytest.FixtureRequest) -> Template:
    kind = request.config.getoption("--database")
    if kind == "postgres":
        require_postgres()
    return Template.shared(Path(os.environ[SHARED]), kind)


@pytest.fixture(scope="session")
def on_postgres() -> Template:
    """PostgreSQL, whatever `--database` says."""
    require_postgres()
    return Template.shared(Path(os.environ[SHARED]), "postgres")


def require_postgres() -> None:
    try:
        psycopg.connect(POSTGRES, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        missing("PostgreSQL", error)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    template: Template,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """Give the tests' own process a copy of a database: pytest-django would migrate one for each process."""
    database = template.copy_without_people(tmp_path_factory.mktemp("database"))
    wanted = connections["default"].settings_dict  # the one that connections of all threads are made from
    name = wanted["NAME"]
    with django_db_blocker.unblock():
        connections["default"].close()
        wanted["NAME"] = database.url.removeprefix("sqlite:///")
        if template.kind == "postgres":
            wanted["NAME"] = database.url.rsplit("/", 1)[1]
        with quick_flush():
            yield
        connections.close_all()
    wanted["NAME"] = name
    database.drop()


@pytest.fixture
def fake() -> Iterator[Fake]:
    """Cloudflare, on loopback."""
    made = Fake()
    yield made
    made.close()


@pytest.fixture
def attachments(settings: Any, tmp_path: Path) -> Path:
    """The folder of stored pictures, for tests without a server."""
    found = tmp_path / "attachments"
    options = {**settings.STORAGES["attachments"], "OPTIONS": {"location": found}}
    settings.STORAGES = {**settings.STORAGES, "attachments": options}
    return found


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


@pytest.fixture
def alice() -> Any:
    """A person without a password."""
    return get_user_model().objects.create_user("alice")
