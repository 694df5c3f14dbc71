"""A server that a test starts in its own way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database, Template
from tests.support.server import Server, Servers


@pytest.fixture
def unstarted(template: Template, database: Database, fake: Fake, tmp_path: Path) -> Iterator[Server]:
    """Its environment, its folder and its database, and people for them."""
    made = Servers(template, database, fake, tmp_path)
    yield made.make()
    made.end()
