"""More runs than a process may have at once wait their turn, and can be stopped while they wait."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.conversations.turns.commands import SendMessage
from chat.db.executor import run_in_db
from chat.engine.engine import Engine
from chat.engine.generation import supervisor
from chat.engine.streaming.feed import PlainFeed
from chat.engine.streaming.run_state import RunState
from chat.engine.streaming.viewer import Viewer, Viewers
from chat.models import Run, User
from chat.wire import sse
from chat.wire.position import Position
from tests.engine.in_process import launch_run, running_engine
from tests.fake_cloudflare.server import Fake
from tests.support.waiting import becomes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def engine(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    """An engine that runs one reply at a time."""
    monkeypatch.setattr(supervisor, "MAX_LIVE_RUNS", 1)
    async with running_engine(fake) as made:
        yield made


async def ended(state: RunState) -> str:
    await becomes(lambda: state.outcome)
    assert state.outcome
    return state.outcome.status


async def status(run: Run) -> str:
    return (await run_in_db(Run.objects.get, pk=run.pk)).status


async def test_a_run_waits_for_a_place_and_says_so(engine: Engine, fake: Fake) -> None:
    alice = await run_in_db(User.objects.create_user, "alice")
    first, first_state = await launch_run(engine, alice, "fake: held")
    second, second_state = await launch_run(engine, alice, "hello")
    assert await status(second) == "queued"
    assert not second_state.text
    fake.go_on()
    assert await ended(first_state) == "complete"
    assert await ended(second_state) == "complete"
    assert (await status(first), await status(second)) == ("complete", "complete")
    assert (await run_in_db(Run.objects.get, pk=second.pk)).started is not None


async def told(state: RunState) -> list[tuple[str, str]]:
    """The problems that a viewer who comes now is told until the run ends: code and sentence."""
    viewer = Viewer(Viewers(), PlainFeed.of(state), Position(), session="", user=0, password="")
    decoder, problems = sse.Decoder(), []
    async for frame in viewer.frames():
        for event in decoder.feed(frame):
            if event.event == "problem":
                payload = json.loads(event.data)
                assert payload["response"] == ""
                problems.append((payload["code"], payload["message"]))
    return problems


async def test_waiting_runs_show_their_place(engine: Engine, fake: Fake) -> None:
    people = [await run_in_db(User.objects.create_user, name) for name in ("alice", "bob", "carol")]
    _, first = await launch_run(engine, people[0], "fake: held key=first")
    states = [(await launch_run(engine, person, "fake: held key=others"))[1] for person in people[1:]]
    line = "Waiting in the queue at position {}."
    watching = [asyncio.create_task(told(state)) for state in states]
    await becomes(lambda: all(PlainFeed.of(state).viewers for state in states))
    await becomes(lambda: [state.queue_position for state in states] == [1, 2])
    fake.go_on("first")
    await becomes(lambda: [state.queue_position for state in states] == [0, 1])
    fake.go_on("others")
    one, two = await asyncio.gather(*watching)
    assert one == [("waiting", line.format(1)), ("waiting", "")]
    assert two == [("waiting", line.format(2)), ("waiting", line.format(1)), ("waiting", "")]
    assert await told(first) == []


async def test_a_run_that_waits_can_be_stopped_and_calls_nobody(engine: Engine, fake: Fake) -> None:
    alice = await run_in_db(User.objects.create_user, "alice")
    _, first_state = await launch_run(engine, alice, "fake: held")
    second, second_state = await launch_run(engine, alice, "hello")
    engine.supervisor.stop(second.pk)
    assert await ended(second_state) == "stopped"
    fake.go_on()
    assert await ended(first_state) == "complete"
    assert len([call for call in fake.calls if "/ai/run/" in call["path"]]) == 1


async def test_a_run_stopped_before_its_first_step_ends_stopped(engine: Engine) -> None:
    alice = await run_in_db(User.objects.create_user, "alice")
    question = SendMessage(content="hello", client_key=uuid.uuid4())
    opened = await run_in_db(engine.turn_store.store, alice, question, queued=False)
    state = await engine.launch(opened)
    engine.supervisor.stop(opened.run.pk)
    assert await ended(state) == "stopped"
    assert await status(opened.run) == "stopped"
