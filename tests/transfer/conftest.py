"""A person who imports, and a folder for the files."""

from pathlib import Path

import pytest
from django.conf import settings as site

from chat.models import User
from chat.transfer import jobs
from tests.support.assistants import bob, staff


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of the test's own; imports do not pause."""
    monkeypatch.setattr(site, "DATA_DIR", tmp_path)
    monkeypatch.setattr(jobs, "MAX_CHECK_PAUSE_SECONDS", 0)


@pytest.fixture
def ann() -> User:
    return User.objects.create_user("ann")
