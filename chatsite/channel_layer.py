"""The channel layer on Redis, with connections that notice when the network loses them."""

from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer
from redis.asyncio import Connection, SSLConnection
from redis.asyncio.connection import parse_url
from redis.exceptions import ConnectionError as RedisConnectionError


class _NoticesLoss:
    """Raise an error for a connection that was lost while a message was waited for.

    When the network goes away without a word, the socket fails with ETIMEDOUT, which Python turns into
    `TimeoutError`. redis-py 8.1 takes that for the end of the wait and returns None, at once and each time
    again: the loop that waits for messages never yields, and the whole process stands still.
    """

    _reader: Any

    async def read_response(self, *args: Any, **options: Any) -> Any:
        response = await super().read_response(*args, **options)  # type: ignore[misc]
        lost = self._reader.exception() if response is None and self._reader else None
        if lost:
            raise RedisConnectionError(f"the connection was lost: {lost}") from lost
        return response


class LayerConnection(_NoticesLoss, Connection):
    pass


class SecureLayerConnection(_NoticesLoss, SSLConnection):
    pass


class ChannelLayer(RedisPubSubChannelLayer):
    """Take the addresses of Redis servers, such as `redis://127.0.0.1:6379/0` or `rediss://redis.example.org`."""

    def __init__(self, hosts: list[str], **options: Any) -> None:
        super().__init__(hosts=[_connection_options(host) for host in hosts], **options)


def _connection_options(url: str) -> dict[str, Any]:
    options: dict[str, Any] = dict(parse_url(url))
    secure = options.get("connection_class") is SSLConnection
    return {**options, "connection_class": SecureLayerConnection if secure else LayerConnection}
