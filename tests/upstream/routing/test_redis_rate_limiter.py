"""Many requests at once and a Redis that is slow or down."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from chat.upstream.routing.redis_rate_limiter import (
    MAX_REDIS_CONNECTIONS,
    REDIS_TIMEOUT_SECONDS,
    RedisRateLimiter,
)

MANY = 300
SLOW_SECONDS = REDIS_TIMEOUT_SECONDS / 20  # for one response: together they take longer than the timeout


async def acquire_many(url: str) -> set[float | None]:
    limiter = RedisRateLimiter(url, uuid.uuid4().hex)
    try:
        return set(await asyncio.gather(*(limiter.acquire_or_delay({"": MANY}, 60) for _ in range(MANY))))
    finally:
        await limiter.aclose()


@asynccontextmanager
async def slow_redis(url: str) -> AsyncIterator[str]:
    """The address of a relay in front of the real Redis."""
    real = urlsplit(url)

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
        while data := await reader.read(65_536):
            await asyncio.sleep(seconds)
            writer.write(data)
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        responses, requests = await asyncio.open_connection(real.hostname, real.port)
        await asyncio.gather(pump(reader, requests, SLOW_SECONDS), pump(responses, writer, 0))

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}{real.path}"
    server.close()


@asynccontextmanager
async def silent_redis() -> AsyncIterator[str]:
    """The address of a server that never answers."""

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    server.close()


async def test_outage_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with silent_redis() as url:
            assert await acquire_many(url) == {None}
    assert len(caplog.records) == 1


@pytest.mark.redis
async def test_many_requests_at_once_are_no_outage(redis_url: str, caplog: pytest.LogCaptureFixture) -> None:
    assert MANY / MAX_REDIS_CONNECTIONS * SLOW_SECONDS > REDIS_TIMEOUT_SECONDS
    with caplog.at_level(logging.WARNING):
        async with slow_redis(redis_url) as url:
            assert await acquire_many(url) == {0.0}
    assert caplog.records == []
