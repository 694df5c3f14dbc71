"""More runs than a process may have at once wait their turn, and can be stopped while they wait."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.db import run_in_db
from chat.engine.engine import Engine
from chat.engine.generation import supervisor
from chat.engine.streaming.feed import PlainFeed
from chat.engine.streaming.run_state import RunState
from chat.engine.streaming.viewer import Viewer, Viewers
from chat.models import Run, User
from chat.turns.commands import SendMessage
from chat.wire import sse
from chat.wire.position import Position
from tests.engine.in_process import running_engine
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import PATIENCE, becomes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def here(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    """An engine that runs one reply at a time."""
    monkeypatch.setattr(supervisor, "MAX_LIVE_RUNS", 1)
    async with running_engine(fake) as made:
        yield made


async def ask(here: Engine, user: User, content: str) -> tuple[Run, RunState]:
    question = SendMessage(content=content, client_key=uuid.uuid4())
    opened = await run_in_db(here.turn_store.store, user, question, queued=here.supervisor.is_full)
    return opened.run, await here.launch(opened)


async def ended(live: RunState) -> str:
    async with asyncio.timeout(PATIENCE):
        while live.outcome is None:
            await PlainFeed.of(live).changed()
    return live.outcome.status


async def status(run: Run) -> str:
    return (await run_in_db(Run.objects.get, pk=run.pk)).status


async def test_a_run_waits_for_a_place_and_says_so(here: Engine, fake: Fake) -> None:
    alice = await run_in_db(User.objects.create_user, "alice")
    first, live_first = await ask(here, alice, "fake: held")
    second, live_second = await ask(here, alice, "hello")
    assert await status(second) == "queued"
    assert not live_second.text
    fake.go_on()
    assert await ended(live_first) == "complete"
    assert await ended(live_second) == "complete"
    assert (await status(first), await status(second)) == ("complete", "complete")
    assert (await run_in_db(Run.objects.get, pk=second.pk)).started is not None


async def told(live: RunState) -> list[tuple[str, str]]:
    """The problems that a viewer who comes now is told until the run ends: code and sentence."""
    viewer = Viewer(Viewers(), PlainFeed.of(live), Position(), session="", user=0, password="")
    decoder, problems = sse.Decoder(), []
    async for frame in viewer.frames():
        for event in decoder.feed(frame):
            if event.event == "problem":
                payload = json.loads(event.data)
                assert payload["response"] == ""
                problems.append((payload["code"], payload["message"]))
    return problems


async def test_waiting_runs_show_their_place(here: Engine, fake: Fake) -> None:
    people = [await run_in_db(User.objects.create_user, name) for name in ("alice", "bob", "carol")]
    _, first = await ask(here, people[0], "fake: held key=first")
    lives = [(await ask(here, person, "fake: held key=others"))[1] for person in people[1:]]
    line = "Waiting in the queue at position {}."
    watching = [asyncio.create_task(told(live)) for live in lives]
    await becomes(
        lambda: (
            [live.queue_position for live in lives] == [1, 2]
            and all(PlainFeed.of(live).viewers for live in lives)
        )
    )
    fake.go_on("first")
    await becomes(lambda: [live.queue_position for live in lives] == [0, 1])
    fake.go_on("others")
    one, two = await asyncio.gather(*watching)
    assert one == [("waiting", line.format(1)), ("waiting", "")]
    assert two == [("waiting", line.format(2)), ("waiting", line.format(1)), ("waiting", "")]
    assert await told(first) == []


async def test_a_run_that_waits_can_be_stopped_and_calls_nobody(here: Engine, fake: Fake) -> None:
    alice = await run_in_db(User.objects.create_user, "alice")
    _, live_first = await ask(here, alice, "fake: held")
    second, live_second = await ask(here, alice, "hello")
    here.supervisor.stop(second.pk)
    assert await ended(live_second) == "stopped"
    fake.go_on()
    assert await ended(live_first) == "complete"
    assert len([call for call in fake.calls if "/ai/run/" in call["path"]]) == 1


async def test_a_run_stopped_before_its_first_step_ends_stopped(here: Engine) -> None:
    alice = await run_in_db(User.objects.create_user, "alice")
    question = SendMessage(content="hello", client_key=uuid.uuid4())
    opened = await run_in_db(here.turn_store.store, alice, question, queued=False)
    live = await here.launch(opened)
    here.supervisor.stop(opened.run.pk)
    assert await ended(live) == "stopped"
    assert await status(opened.run) == "stopped"
