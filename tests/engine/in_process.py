"""An engine in the test's own process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.test import override_settings

from chat.engine.engine import Engine
from tests.fake_cloudflare.server import Fake


@asynccontextmanager
async def running_engine(fake: Fake) -> AsyncIterator[Engine]:
    """An engine that asks the fake; it is drained at the end. It replaces the models: see `same_models`."""
    account = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "fake-token"}
    base = f"{fake.url}/client/v4"
    with override_settings(CLOUDFLARE_API_BASE_URL=base, DEFAULT_MODEL="", **account):
        made = Engine()
    await made.start()
    yield made
    await made.drain(0)
