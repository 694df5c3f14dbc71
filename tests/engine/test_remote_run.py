"""Runs of another process: when a mirror is let go, and when it must not be."""

import math
import uuid

import pytest

from chat.engine.cluster import IDLE_SECONDS, RemoteRun, RemoteRuns
from chat.engine.streaming.feed import PlainFeed
from chat.models import Message, Run


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
    PlainFeed.of(remote_run).subscribe()
    await remote_runs.poll()
    assert remote_runs.open == {run.pk: remote_run}
    assert remote_run.viewers
