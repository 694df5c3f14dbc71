"""Both kinds of databases in one test, each with nobody in it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import SHARED
from tests.move.site import fill, without_people
from tests.support.databases import Database, Template


@pytest.fixture(scope="session")
def sqlite() -> Template:
    return Template.shared(Path(os.environ[SHARED]), "sqlite")


@pytest.fixture(scope="module")
def filled(sqlite: Template, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with a row in each table."""
    folder = tmp_path_factory.mktemp("filled")
    fill(sqlite.copy(folder), folder)
    return folder / "db.sqlite3"


@pytest.fixture
def site(filled: Path, tmp_path: Path) -> Database:
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(filled, folder / "db.sqlite3")
    return Database(f"sqlite:///{folder}/db.sqlite3")


@pytest.fixture
def empty(sqlite: Template, tmp_path: Path) -> Database:
    return without_people(sqlite, tmp_path / "empty")


@pytest.fixture
def postgres(on_postgres: Template, tmp_path: Path) -> Iterator[Callable[[], Database]]:
    """Make databases on PostgreSQL without people, which are dropped at the end."""
    made: list[Database] = []

    def one() -> Database:
        made.append(without_people(on_postgres, tmp_path))
        return made[-1]

    yield one
    for database in made:
        database.drop()
