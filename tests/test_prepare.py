"""`manage.py serve --prepare` started several times at once on nothing at all: one prepares, all serve."""

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import require_postgres
from tests.support.databases import ROOT, Database, clean_environment, on_postgres
from tests.support.server import free_port, give_back
from tests.support.waiting import until

READY = 240.0  # seconds: the database is migrated and the static files are collected
TOGETHER = 3


class Prepared:
    """One such process."""

    def __init__(self, folder: Path, number: int, database_url: str) -> None:
        self.port = free_port()
        self.log = folder.parent / f"start-{number}.log"
        env = clean_environment(DATA_DIR=str(folder), PORT=str(self.port), DATABASE_URL=database_url)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--prepare"],
                cwd=ROOT,
                env=env
                | {"CLOUDFLARE_ACCOUNT_ID": "a", "CLOUDFLARE_API_TOKEN": "t"}
                | {"CLOUDFLARE_API_BASE_URL": "http://127.0.0.1:9/client/v4"},
                stdout=log,
                stderr=log,
            )

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/readyz", timeout=READY).status_code == 200
        except httpx.TransportError:
            return False

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        give_back(self.port)


@pytest.fixture
def start() -> Iterator[Callable[..., Prepared]]:
    started: list[Prepared] = []

    def one(*given: object) -> Prepared:
        started.append(Prepared(*given))  # type: ignore[arg-type]
        return started[-1]

    yield one
    for each in started:
        each.end()


def all_become_ready(start: Callable[..., Prepared], folders: list[Path], database: Database) -> None:
    together = [start(folder, number, database.url) for number, folder in enumerate(folders)]
    for each in together:
        until(each.is_ready, READY)
    applied = database.rows("SELECT app, name, COUNT(*) FROM django_migrations GROUP BY app, name")
    assert len(applied) > 20
    assert {count for _, _, count in applied} == {1}


def test_on_an_empty_folder(start: Callable[..., Prepared], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    database = Database(f"sqlite:///{folder}/db.sqlite3")
    all_become_ready(start, [folder] * TOGETHER, database)
    assert (folder / "secret-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.postgres
def test_on_an_empty_postgresql_from_folders_of_their_own(
    start: Callable[..., Prepared], tmp_path: Path
) -> None:
    require_postgres()
    database = on_postgres(f"empty_{uuid.uuid4().hex}")
    try:
        all_become_ready(start, [tmp_path / f"data-{number}" for number in range(TOGETHER)], database)
    finally:
        database.drop()
