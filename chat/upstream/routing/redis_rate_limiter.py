"""The requests of all processes, counted in Redis. A Redis that is down does not hold up requests."""

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

REDIS_TIMEOUT_SECONDS = 0.25
# uvloop raises RuntimeError for a pooled connection that has been reset.
REDIS_ERRORS = (RedisError, OSError, RuntimeError)
REDIS_RETRY_SECONDS = 5.0  # pause after a failed Redis request
MAX_REDIS_CONNECTIONS = 8

# One sorted set per key, with the times of its requests in the last window by Redis's clock, in milliseconds.
# The script counts a request under all keys or, if one of them is at its limit, under none. It returns the
# milliseconds to wait, 0 if the request was counted.
ACQUIRE_SCRIPT = """
local now = redis.call('TIME')
local at, window, wait = now[1] * 1000 + math.floor(now[2] / 1000), tonumber(ARGV[1]), 0
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', at - window)
  local over = redis.call('ZCARD', key) - tonumber(ARGV[i + 2])
  if over >= 0 then
    wait = math.max(wait, redis.call('ZRANGE', key, over, over, 'WITHSCORES')[2] + window - at)
  end
end
if wait > 0 then return math.ceil(wait) end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, at, ARGV[2])
  redis.call('PEXPIRE', key, window)
end
return 0
"""

logger = logging.getLogger(__name__)


class RedisRateLimiter:
    """A shared counter. `account` separates sites that use the same Redis but different accounts."""

    def __init__(self, url: str, account: str) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=MAX_REDIS_CONNECTIONS,
            timeout=REDIS_TIMEOUT_SECONDS,
            socket_timeout=REDIS_TIMEOUT_SECONDS,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
        )
        self._redis = Redis(connection_pool=pool)
        self._script = self._redis.register_script(ACQUIRE_SCRIPT)
        self._prefix = f"chat:minute:{account}:"
        # Many requests at once wait here, and not for a connection of the pool: that wait has a timeout,
        # which would be mistaken for a Redis that is down.
        self._slots = asyncio.Semaphore(MAX_REDIS_CONNECTIONS)
        self._retry_at = 0.0

    async def acquire_or_delay(self, limits: Mapping[str, int], window: float) -> float | None:
        """Count one request under each name in `limits` and return 0.0, if all limits allow it.

        Else count nothing and return the seconds until they do. Return None if Redis does not respond, in
        which case the process counts for itself. `window` in seconds.
        """
        async with self._slots:
            if time.monotonic() < self._retry_at:
                return None
            keys = [self._prefix + name for name in limits]
            try:
                wait = await self._script(keys, [int(window * 1_000), uuid.uuid4().hex, *limits.values()])
            except REDIS_ERRORS as error:
                self._on_failure(error)
                return None
        return int(wait) / 1_000

    def _on_failure(self, error: Exception) -> None:
        """Pause, and log the first of the requests that failed at the same time."""
        now = time.monotonic()
        if now >= self._retry_at:
            logger.warning("the minute's requests are not counted together: %s", type(error).__name__)
        self._retry_at = now + REDIS_RETRY_SECONDS

    async def aclose(self) -> None:
        await self._redis.aclose(close_connection_pool=True)
