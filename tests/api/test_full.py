"""A process answers so many calls at a time, and tells the next one to come again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from django.test import AsyncClient, override_settings

from chat.db.executor import run_in_db
from chat.engine import engine as engines
from chat.engine.engine import Engine
from chat.engine.generation import api_calls
from chat.models import Call
from tests.api.client import CHAT, question
from tests.api.keys import new_key
from tests.fake_cloudflare.server import Fake

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def engine(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    """The process's engine, with a place for one call."""
    monkeypatch.setattr(api_calls, "MAX_LIVE_RUNS", 1)
    account = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "fake-token"}
    with override_settings(CLOUDFLARE_API_BASE_URL=f"{fake.url}/client/v4", DEFAULT_MODEL="", **account):
        made = Engine()
    await made.start()
    monkeypatch.setattr(engines, "_engine", made)
    yield made
    await made.drain(0)


async def test_the_next_call_is_told_to_come_again(engine: Engine) -> None:
    bearer = {"Authorization": f"Bearer {await run_in_db(new_key)}"}

    async def ask(scenario: str, **more: Any) -> Any:
        body = {**question(scenario), **more}
        return await AsyncClient().post(CHAT, body, "application/json", headers=bearer)

    slow = await ask("fake: words tokens=900 delay=0.05", stream=True)
    assert (slow.status_code, engine.api_calls.is_full) == (200, True)
    refused = await ask("hello")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "model_busy")
    assert refused.headers["Retry-After"] == "5"
    assert await run_in_db(Call.objects.count) == 1
    slow.close()
    await engine.api_calls.wait(60, asyncio.Event())
    assert (await ask("hello")).status_code == 200
