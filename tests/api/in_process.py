"""The engine in the test's own process, for tests that need no server of their own."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from django.test import override_settings

from chat.engine import engine as engines
from chat.engine.engine import Engine
from tests.fake_cloudflare.server import Fake
from tests.support.db_threads import close_connections


@pytest_asyncio.fixture
async def engine(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    """Start an engine that sends its requests to the fake."""
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
        await close_connections()
