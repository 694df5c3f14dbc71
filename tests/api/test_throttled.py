"""A program that asks too much in a minute is told so at once, with when to come back, in its own dialect."""

from typing import Any

import pytest
from django.test import AsyncClient

from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.models import ApiKey, User
from chat.upstream.routing.rate_limiter import RateLimiter
from tests.api.client import CHAT, MODEL, RUN, question
from tests.api.in_process import engine
from tests.fake_cloudflare.server import Fake

__all__ = ["engine"]
pytestmark = pytest.mark.django_db(transaction=True)


def bearer() -> dict[str, str]:
    key = ApiKey(user=User.objects.create_user("alice"), name="a program")
    secret = key.generate_secret()
    key.save()
    return {"Authorization": f"Bearer {secret}"}


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
