"""The engine in the test's own process, for tests that need no server of their own."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from django.test import override_settings

from chat.engine import engine as engines
from chat.engine.engine import Engine
from chat.models import ApiKey, User
from tests.fake_cloudflare.server import Fake
from tests.support.db_threads import close_connections


@pytest_asyncio.fixture
async def engine(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> AsyncIterator[Engine]:
    """Start an engine that sends its requests to the fake; its parameter, if any, are settings."""
    account = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "fake-token", "DEFAULT_MODEL": ""}
    wanted = {"REQUESTS_PER_MINUTE": 1_000_000, **getattr(request, "param", {})}
    account |= {"CLOUDFLARE_API_BASE_URL": f"{fake.url}/client/v4", "AI_GATEWAY_BASE_URL": f"{fake.url}/v1"}
    with override_settings(**account, **wanted):
        made = Engine()
        await made.start()
        monkeypatch.setattr(engines, "_engine", made)
        yield made
        await made.drain(0)
        await close_connections()


def bearer(name: str = "alice", **fields: Any) -> dict[str, str]:
    """Store a person with a key, and return the header that has it."""
    user = User.objects.create_user(name, f"{name}@example.org")
    key = ApiKey(user=user, name="a program", **fields)
    secret = key.generate_secret()
    key.save()
    return {"Authorization": f"Bearer {secret}"}
