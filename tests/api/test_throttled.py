"""A program that asks too much, in a minute or at once, is told so, with when to come back."""

import asyncio
from typing import Any

import pytest
from django.test import AsyncClient

from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.engine.generation import api_calls
from chat.models import Call
from chat.upstream.routing.rate_limiter import RateLimiter
from tests.api.client import CHAT, MODEL, RUN, question
from tests.api.in_process import bearer, engine
from tests.fake_cloudflare.server import Fake

__all__ = ["engine"]
pytestmark = pytest.mark.django_db(transaction=True)


async def both(text: str, headers: dict[str, str], **more: Any) -> list[tuple[int, object, str | None]]:
    """The same question in each dialect: the status, the code, and when to come back."""
    client = AsyncClient()
    json = "application/json"
    chat = await client.post(CHAT, question(text, **more), json, headers=headers)
    run = await client.post(f"{RUN}/{MODEL}", {"prompt": text, **more}, json, headers=headers)
    codes = chat.json()["error"]["code"], run.json()["errors"][0]["code"]
    return [
        (each.status_code, code, each.headers.get("Retry-After"))
        for each, code in zip((chat, run), codes, strict=True)
    ]


@pytest.mark.parametrize("stream", [False, True])
async def test_cloudflares_rate_limit(engine: Engine, fake: Fake, stream: bool) -> None:
    headers, calls = await run_in_db(bearer), len(fake.calls)
    told = await both("fake: status code=3021 retry_after=50", headers, stream=stream)
    assert [each[:2] for each in told] == [(429, "rate_limit_exceeded"), (429, 3021)]
    assert told[0][2] == "50"
    assert 0 < int(told[1][2] or 0) <= 50
    assert len(fake.calls) == calls + 1, "nobody is asked again before that time"


async def test_the_sites_own_rate_limit(engine: Engine, fake: Fake) -> None:
    headers = await run_in_db(bearer)
    engine.router.limiter = RateLimiter(1, 1)
    first = await AsyncClient().post(CHAT, question("hello"), "application/json", headers=headers)
    assert first.status_code == 200
    calls = len(fake.calls)
    told = await both("hello", headers)
    assert [each[:2] for each in told] == [(429, "rate_limit_exceeded"), (429, 3021)]
    assert all(0 < int(each[2] or 0) <= 60 for each in told)
    assert len(fake.calls) == calls


async def ask(headers: dict[str, str], words: str, **more: Any) -> Any:
    return await AsyncClient().post(CHAT, question(words, **more), "application/json", headers=headers)


async def test_the_call_beyond_those_at_once_is_told_to_come_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_calls, "MAX_LIVE_RUNS", 1)
    headers = await run_in_db(bearer)
    slow = await ask(headers, "fake: words tokens=900 delay=0.05", stream=True)
    assert (slow.status_code, engine.api_calls.is_full) == (200, True)
    refused = await ask(headers, "hello")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "model_busy")
    assert refused.headers["Retry-After"] == "5"
    assert await run_in_db(Call.objects.count) == 1
    slow.close()
    await engine.api_calls.wait(60, asyncio.Event())
    assert (await ask(headers, "hello")).status_code == 200
