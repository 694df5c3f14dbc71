"""Ended runs in memory: as long as they are watched, and no longer."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.engine.streaming.html_feed import HtmlFeed
from chat.engine.streaming.run_state import RunState
from chat.engine.streaming.viewer import Viewer
from chat.models import Run, User
from chat.wire.position import Position
from tests.engine.in_process import launch_run, running_engine
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import PATIENCE, becomes

pytestmark = pytest.mark.django_db(transaction=True)
RUNS = 12
WORDS = "fake: words tokens=20"
SOON_SECONDS = 10  # much less than a minute, and enough for a busy machine


@pytest_asyncio.fixture
async def engine(fake: Fake) -> AsyncIterator[Engine]:
    async with running_engine(fake) as made:
        yield made


@pytest_asyncio.fixture
async def alice() -> User:
    return await run_in_db(User.objects.create_user, "alice")


def viewer(engine: Engine, state: RunState) -> Viewer:
    return Viewer(engine.viewers, HtmlFeed.of(state), Position(), session="", user=0, password="")


async def frames(engine: Engine, state: RunState) -> str:
    """Return all frames of a run, as a viewer gets them."""
    async with asyncio.timeout(PATIENCE):
        return b"".join([frame async for frame in viewer(engine, state).frames()]).decode()


async def soon(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(SOON_SECONDS):
        await becomes(condition)


async def test_ended_runs_that_nobody_watches_are_let_go(engine: Engine, alice: User) -> None:
    states = [(await launch_run(engine, alice, WORDS))[1] for _ in range(RUNS)]
    told = await asyncio.gather(*(frames(engine, state) for state in states))
    assert all('"status":"complete"' in text for text in told)
    await soon(lambda: not engine.supervisor.states)


async def test_an_ended_run_is_freed_without_the_collector(engine: Engine, alice: User) -> None:
    """The collector comes late, and what it frees late keeps the memory of the process from shrinking."""
    run, state = await launch_run(engine, alice, WORDS)
    await frames(engine, state)
    kept = [weakref.ref(state), weakref.ref(run.conversation)]
    gc.disable()
    try:
        del run, state
        await soon(lambda: not any(ref() for ref in kept))
    finally:
        gc.enable()


async def test_an_ended_run_stays_while_it_is_watched(engine: Engine, alice: User) -> None:
    run, state = await launch_run(engine, alice, WORDS)
    slow = viewer(engine, state).frames()
    await anext(slow)
    await soon(lambda: state.outcome is not None)
    await asyncio.sleep(1)
    assert await engine.follow(run) is state
    await slow.aclose()
    await soon(lambda: not engine.supervisor.states)


async def test_viewers_after_the_end_see_the_same(engine: Engine, alice: User) -> None:
    run, state = await launch_run(engine, alice, WORDS)
    before = await frames(engine, state)
    await soon(lambda: not engine.supervisor.states)
    stored = await run_in_db(Run.objects.select_related("message", "worker").get, pk=run.pk)
    again = await engine.follow(stored)
    assert (again.text, again.info) == (state.text, state.info)
    after = await frames(engine, again)
    assert before[before.index("event: done") :] == after[after.index("event: done") :]
    await soon(lambda: not engine.remote_runs.open)
