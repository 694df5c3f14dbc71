"""A person who imports, and a folder for the files."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO

import pytest
from django.conf import settings as site

from chat.models import User
from chat.transfer import child, reader
from tests.support.assistants import bob, staff


def streamed(
    _: str, file: IO[bytes], __: object, *arguments: str, beat: Callable[[], object], **___: int
) -> Generator[bytes, None, None]:
    for told in child.lines(file, *map(int, arguments)):
        beat()
        yield from told.splitlines()


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process. test_child.py has the child."""
    monkeypatch.setattr(reader, "stream_confined", streamed)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of the test's own."""
    monkeypatch.setattr(site, "DATA_DIR", tmp_path)


@pytest.fixture
def ann() -> User:
    return User.objects.create_user("ann")
