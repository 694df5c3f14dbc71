"""A program that asks for more than a minute takes is told so at once, and when to come again."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from django.test import AsyncClient, override_settings

from chat.db.executor import run_in_db
from chat.engine import engine as engines
from chat.engine.engine import Engine
from tests.api.client import CHAT, question
from tests.api.keys import new_key
from tests.fake_cloudflare.server import Fake

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def engine(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    """The process's engine, which may ask twice in a minute."""
    account = {"CLOUDFLARE_ACCOUNT_ID": "acc", "CLOUDFLARE_API_TOKEN": "fake-token", "DEFAULT_MODEL": ""}
    with override_settings(CLOUDFLARE_API_BASE_URL=f"{fake.url}/client/v4", REQUESTS_PER_MINUTE=2, **account):
        made = Engine()
    await made.start()
    monkeypatch.setattr(engines, "_engine", made)
    yield made
    await made.drain(0)


async def test_too_much_is_429_with_retry_after(engine: Engine, fake: Fake) -> None:
    bearer = {"Authorization": f"Bearer {await run_in_db(new_key)}"}

    async def ask(words: str, **more: Any) -> Any:
        return await AsyncClient().post(CHAT, {**question(words), **more}, "application/json", headers=bearer)

    refused = await ask("fake: status code=3021 retry_after=9")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "9")
    assert len(fake.calls) == 1, "a program asks again itself"
    for stream in (False, True):
        told = await ask("hello", stream=stream)
        assert (told.status_code, told.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert 1 <= int(told.headers["Retry-After"]) <= 9
    assert len(fake.calls) == 1
