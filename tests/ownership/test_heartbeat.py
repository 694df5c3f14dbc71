"""The heartbeats themselves: nothing that recovery has to wait for delays them."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from chat.models import Run, Worker
from chat.ownership.heartbeat import HeartbeatTask
from chat.ownership.protocol import HEARTBEAT_SECONDS, Lease
from tests.support.message_trees import Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True), pytest.mark.postgres]
SOON_SECONDS = 5.0
LONG_SECONDS = 0.5


@pytest.fixture
def orphan() -> Run:
    """A live run of a worker that was fenced."""
    *_, reply = Tree(conversation()).grow(None, 2)
    return run(reply, "running", worker=Worker.objects.create(host="elsewhere", pid=1, epoch=2), epoch=1)


@pytest.fixture
async def task(tmp_path: Path) -> AsyncIterator[HeartbeatTask]:
    if connection.vendor == "sqlite":
        pytest.skip("a SQLite file has one lock for all")
    worker = Worker(id=uuid.uuid4(), host="here", pid=2)
    made = HeartbeatTask(worker, Lease(worker.pk), tmp_path, list)
    yield made
    await made.stop()


@contextmanager
def held(row: Run | Worker) -> Iterator[None]:
    """Hold the lock of a row in a transaction that does not end."""
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute(f"SELECT FROM {row._meta.db_table} WHERE id = %s FOR UPDATE", [row.pk])
        yield
        other.rollback()


async def test_heartbeats_go_on_while_recovery_waits_for_a_row(orphan: Run, task: HeartbeatTask) -> None:
    worker = task._worker
    with held(orphan):
        for _ in range(3):
            await asyncio.wait_for(task.renew(), SOON_SECONDS)
        await worker.arefresh_from_db()
        assert worker.heartbeats == 2  # the first one has made the row
        assert await Run.objects.live().filter(pk=orphan.pk).aexists()
    assert task._recovery
    await asyncio.wait_for(task._recovery, SOON_SECONDS)
    assert not await Run.objects.live().filter(pk=orphan.pk).aexists()


async def test_a_heartbeat_that_takes_long_does_not_delay_the_next(task: HeartbeatTask) -> None:
    """Over a link of 300 ms each way, one took 10.7 s to come after the one before."""
    await task.renew()
    with held(task._worker):
        renewing = asyncio.create_task(task.renew())
        await asyncio.sleep(0)  # its time is taken; the sleep below begins after it
        await asyncio.sleep(LONG_SECONDS)
    await renewing
    assert task._pause() <= HEARTBEAT_SECONDS - LONG_SECONDS
