"""The minute's requests of all processes, counted in Redis; while that is down nobody waits for it."""

import logging
import time
import uuid
from collections.abc import Mapping

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

TIMEOUT_SECONDS = 0.25  # seconds
# uvloop says RuntimeError where a kept connection has been reset since.
FAILURES = (RedisError, OSError, RuntimeError)
REDIS_RETRY_SECONDS = 5.0  # seconds that a Redis is not asked again which did not answer
CONNECTIONS = 8

# Each name's requests of the last window as a sorted set of times, by Redis's clock. All are taken or none.
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
    """`account` parts the counts of sites that share a Redis but not an account."""

    def __init__(self, url: str, account: str) -> None:
        pool = BlockingConnectionPool.from_url(
            url, max_connections=CONNECTIONS, timeout=TIMEOUT_SECONDS, socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
        )  # fmt: skip
        self._redis = Redis(connection_pool=pool)
        self._script = self._redis.register_script(ACQUIRE_SCRIPT)
        self._prefix = f"chat:minute:{account}:"
        self._retry_at = 0.0

    async def acquire(self, limits: Mapping[str, int], window: float) -> float | None:
        """Count one request under each name: 0.0, or the seconds until there is a place under all of them.

        None where Redis does not answer: whoever asks then counts for themselves.
        """
        if time.monotonic() < self._retry_at:
            return None
        keys = [self._prefix + name for name in limits]
        try:
            wait = await self._script(keys, [int(window * 1_000), uuid.uuid4().hex, *limits.values()])
        except FAILURES as error:
            logger.warning("the minute's requests are not counted together: %s", type(error).__name__)
            self._retry_at = time.monotonic() + REDIS_RETRY_SECONDS
            return None
        return int(wait) / 1_000

    async def aclose(self) -> None:
        await self._redis.aclose(close_connection_pool=True)
