"""The engine in the test's own process, for tests that need no server of their own."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from django.db import connections
from django.test import override_settings

from chat.db import THREADS, run_in_db
from chat.engine import engine as engines
from chat.engine.engine import Engine
from tests.fake_cloudflare.server import Fake
from tests.support.server import PATIENCE


@pytest_asyncio.fixture
async def engine(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    """It asks the fake."""
    account = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "fake-token"}
    with override_settings(
        CLOUDFLARE_API_BASE_URL=f"{fake.url}/client/v4",
        DEFAULT_MODEL="",
        REQUESTS_PER_MINUTE=1_000_000,
        **account,
    ):
        made = Engine()
        await made.start()
        monkeypatch.setattr(engines, "_engine", made)
        yield made
        await made.drain(0)
        await _close_connections()


async def _close_connections() -> None:
    """PostgreSQL deletes no database that somebody is connected to; each thread has a connection."""
    all_there = threading.Barrier(THREADS)

    def close() -> None:
        all_there.wait(PATIENCE)
        connections.close_all()

    await asyncio.gather(*(run_in_db(close) for _ in range(THREADS)))
