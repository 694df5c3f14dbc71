"""Runs of another process: when a mirror is let go, and when it must not be."""

import math
import uuid

import pytest

from chat.engine.cluster.remote_run import IDLE_SECONDS, RemoteRun, RemoteRuns
from chat.models import Message, Run


@pytest.fixture
def run() -> Run:
    message = Message(id=uuid.uuid4(), parent_id=uuid.uuid4(), text="")
    return Run(id=uuid.uuid4(), user_id=1, conversation_id=uuid.uuid4(), message=message, model="m")


def idle(mirror: RemoteRun) -> None:
    """As it is when the last viewer left long ago, and the database is not due."""
    mirror.last_watched -= IDLE_SECONDS + 1
    mirror.next_poll = math.inf


async def test_a_mirror_that_nobody_watches_is_let_go(run: Run) -> None:
    mirrors = RemoteRuns()
    idle(mirrors.get(run))
    await mirrors.poll()
    assert mirrors.open == {}


async def test_a_mirror_that_somebody_comes_back_to_stays(run: Run) -> None:
    mirrors = RemoteRuns()
    mirror = mirrors.get(run)
    idle(mirror)
    assert mirrors.get(run) is mirror
    await mirrors.poll()
    assert mirrors.open == {run.pk: mirror}


async def test_a_mirror_that_was_let_go_while_it_was_read_is_followed_again(run: Run) -> None:
    mirrors = RemoteRuns()
    mirror = mirrors.get(run)
    idle(mirror)
    await mirrors.poll()
    assert mirrors.keep(mirror) is mirror
    mirror.plain_feed.subscribe()
    await mirrors.poll()
    assert mirrors.open == {run.pk: mirror}
    assert mirror.viewers
