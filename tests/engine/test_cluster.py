"""Runs of other processes, and the channel layer between them."""

import asyncio
import errno
import math
import os
import uuid
from collections.abc import AsyncIterator

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from chat.engine.cluster import IDLE_SECONDS, RemoteRun, RemoteRuns
from chat.engine.engine import HOUSEKEEPING_INTERVAL_SECONDS
from chat.engine.streaming.feed import PlainFeed
from chat.models import Message, Run
from chat.wire.position import Position
from chatsite.channel_layer import ChannelLayer, LayerConnection, SecureLayerConnection, _connection_options
from tests.conftest import missing
from tests.support.databases import REDIS

WAIT_SECONDS = 0.1
PATIENCE_SECONDS = 20.0
LOST = TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))  # as asyncio gets it from the socket


@pytest.fixture
def run() -> Run:
    message = Message(id=uuid.uuid4(), parent_id=uuid.uuid4(), text="")
    return Run(id=uuid.uuid4(), user_id=1, conversation_id=uuid.uuid4(), message=message, model="m")


def idle(remote_run: RemoteRun) -> None:
    """Pretend that the last viewer left long ago, and that the database is not due."""
    remote_run.last_watched -= IDLE_SECONDS + 1
    remote_run.next_poll = math.inf


async def test_a_mirror_that_nobody_watches_is_let_go(run: Run) -> None:
    remote_runs = RemoteRuns()
    idle(remote_runs.get_or_create(run))
    await remote_runs.poll()
    assert remote_runs.open == {}


async def test_a_mirror_that_somebody_comes_back_to_stays(run: Run) -> None:
    remote_runs = RemoteRuns()
    remote_run = remote_runs.get_or_create(run)
    idle(remote_run)
    assert remote_runs.get_or_create(run) is remote_run
    await remote_runs.poll()
    assert remote_runs.open == {run.pk: remote_run}


async def test_remote_run_released_while_read_is_followed_again(run: Run) -> None:
    remote_runs = RemoteRuns()
    remote_run = remote_runs.get_or_create(run)
    idle(remote_run)
    await remote_runs.poll()
    assert remote_runs.keep(remote_run) is remote_run
    PlainFeed.of(remote_run.state).subscribe()
    await remote_runs.poll()
    assert remote_runs.open == {run.pk: remote_run}
    assert remote_run.state.viewers


async def test_after_a_message_the_database_is_read_in_time(run: Run) -> None:
    """It may have been the last one: viewers get the rest within two seconds."""
    remote_runs = RemoteRuns()
    remote_run = remote_runs.get_or_create(run)
    remote_runs.append(run.pk, Position(0, 0), "Hello", "")
    assert remote_run.state.text == "Hello"
    due = remote_run.next_poll - asyncio.get_running_loop().time()
    assert due + HOUSEKEEPING_INTERVAL_SECONDS < 2


@pytest.fixture
async def layer() -> AsyncIterator[ChannelLayer]:
    made = ChannelLayer(hosts=[REDIS], prefix=f"test-{os.getpid()}")
    yield made
    await made.flush()


@pytest.fixture
async def connection() -> AsyncIterator[LayerConnection]:
    options = _connection_options(REDIS)
    made = options.pop("connection_class")(**options)
    try:
        await made.connect()
    except RedisConnectionError:
        missing("Redis", "start a server, or name one in TEST_REDIS")
    yield made
    await made.disconnect(nowait=True)


async def test_a_lost_connection_is_an_error_and_not_the_end_of_a_wait(connection: LayerConnection) -> None:
    assert await connection.read_response(timeout=WAIT_SECONDS) is None
    connection._reader.set_exception(LOST)
    with pytest.raises(RedisConnectionError, match="timed out"):
        await connection.read_response(timeout=WAIT_SECONDS)


async def test_messages_come_again_after_the_connection_was_lost(
    connection: LayerConnection, layer: ChannelLayer
) -> None:
    channel = await layer.new_channel()
    (shard,) = layer._get_layer()._shards
    shard._pubsub.connection._reader.set_exception(LOST)
    async with asyncio.timeout(PATIENCE_SECONDS):
        received = asyncio.ensure_future(layer.receive(channel))
        while not received.done():
            await layer.send(channel, {"type": "delta"})
            await asyncio.sleep(WAIT_SECONDS)
    assert (await received)["type"] == "delta"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://10.0.0.5:6380/3", {"host": "10.0.0.5", "port": 6380, "db": 3}),
        ("rediss://bot:p%40ss@redis.example.org", {"host": "redis.example.org", "password": "p@ss"}),
    ],
)
def test_the_address_is_read(url: str, expected: dict[str, object]) -> None:
    options = _connection_options(url)
    secure = url.startswith("rediss")
    assert options["connection_class"] is (SecureLayerConnection if secure else LayerConnection)
    assert expected.items() <= options.items()
