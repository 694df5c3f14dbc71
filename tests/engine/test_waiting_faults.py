"""Faults while a reply waits for the person: of the site, of the client, and of the process that goes on."""

import asyncio
import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from django.utils import timezone, translation

from chat.conversations.tools.tool import ToolFailed, ToolResult
from chat.conversations.turns.waiting import ClaimedRun
from chat.db.executor import run_in_db
from chat.engine import cluster, waiting_runs
from chat.engine.generation import run_storage
from chat.engine.generation.active_run import ActiveRun
from chat.engine.generation.tool_loop import ToolLoop
from chat.engine.outcome import RunOutcome
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.engine.waiting_runs import WaitingRuns
from chat.models import Citation, Run
from chat.ownership import recovery
from chat.ownership.protocol import Batch
from chat.wire.position import Position
from tests.support.db_threads import close_connections
from tests.support.message_trees import Tree, conversation
from tests.support.message_trees import run as made_run
from tests.support.server import Server
from tests.support.waiting import becomes, until
from tests.support.web import Web, served

from .waits import MINE, answered, is_released, reads, until_waiting


@pytest.fixture(scope="module", autouse=True)
def _no_connection_left() -> Iterator[None]:
    yield
    asyncio.run(close_connections())


@pytest.fixture
def web() -> Iterator[Web]:
    with served() as found:
        found.pages["/made-up"] = "<main><p>The oar is of ash.</p></main>"
        yield found


@pytest.fixture
def one(servers: Callable[..., Server], web: Web) -> Server:
    return servers(WEB_SEARCH="searxng", SEARXNG_URL=web.url, READ_PAGE_ALLOWED_HOSTS=web.host)


@pytest.mark.database
def test_the_tools_are_withdrawn_while_it_waits(one: Server, web: Web) -> None:
    with one.person("alice").ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        one.terminate()
    key = one.database.key(stream.run)
    first = one.database.value(f"SELECT prompt_tokens FROM chat_run WHERE id = '{key}'")
    one.env["WEB_SEARCH"] = "none"
    one.start()
    alice = one.person("alice")
    with alice.follow(stream.run) as again:
        answered(alice, stream.run)
        again.to_end()
    assert again.done
    assert (again.done["status"], again.text) == ("complete", "I look.\n\nI look.")  # the fake’s first turn
    assert (again.steps[-1]["state"], web.asked) == ("failed", [])
    assert again.done["usage"]["prompt_tokens"] > first


@pytest.mark.parametrize("host", ["xn--abc-.com", "xn--zzzzzzzz.com", "xn--pple-43d.com"])
def test_a_name_that_cannot_be_written_is_asked_for(one: Server, host: str) -> None:
    alice = one.person("alice")
    with alice.ask(reads(f"https://{host}/?secret", after="Without."), **MINE) as stream:
        until_waiting(stream)
        assert host in stream.steps[-1]["summary"]
        answered(alice, stream.run, word="decline")
        stream.to_end()
    assert stream.done
    assert stream.done["status"] == "complete"


class Engine:
    """Waiting runs whose claims take as long as the test wants."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.claiming, self.go = threading.Event(), threading.Event()
        self.launched: list[tuple[Any, str]] = []
        self.supervisor = SimpleNamespace(states={}, is_full=False, launch=self._launch)
        remote_runs = SimpleNamespace(take=lambda run: SimpleNamespace(apply=lambda *_: None))
        lease = heartbeat = titles = SimpleNamespace(confirm=self._confirm, expect=lambda *_: None)
        catalog = SimpleNamespace(get=lambda: None)
        parts: Any = lease, catalog, self.supervisor, remote_runs, None, titles, heartbeat
        self.runs = WaitingRuns(*parts)
        monkeypatch.setattr(waiting_runs.waiting, "claim", self._claim)

    async def _confirm(self) -> None:
        """The lease is certain."""

    def _launch(self, run: Any, *_: object) -> None:
        self.launched.append((run, translation.get_language()))

    def _claim(self, run: uuid.UUID, *_: object, **__: object) -> ClaimedRun:
        self.claiming.set()
        assert self.go.wait(60)
        claimed: Any = SimpleNamespace(pk=run)
        request: Any = None
        return ClaimedRun(claimed, "", "", request)


async def test_a_client_that_leaves_leaves_no_run_without_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch)
    with translation.override("de"):
        request = asyncio.create_task(engine.runs.go_on(uuid.uuid4()))
    await becomes(engine.claiming.is_set)
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    engine.go.set()
    await becomes(lambda: engine.launched)
    assert engine.launched[0][1] == "de"


async def test_a_shutdown_launches_what_is_being_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch)
    request = asyncio.create_task(engine.runs.go_on(uuid.uuid4()))
    await becomes(engine.claiming.is_set)
    stopping = asyncio.create_task(engine.runs.stop())
    await asyncio.sleep(0.05)
    engine.go.set()
    await stopping
    assert engine.launched
    await request
    await engine.runs.go_on(uuid.uuid4())
    assert len(engine.launched) == 1


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
async def test_runs_that_wait_are_read_again_only_once_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each took 6 ms of the processor a second: 500 that are watched took all of a core."""
    rows = await run_in_db(lambda: [_waiting_row() for _ in range(3)])
    read: list[uuid.UUID] = []
    load = run_storage.load_snapshot

    def counted(run: uuid.UUID, at: Position) -> run_storage.RunSnapshot:
        read.append(run)
        return load(run, at)

    monkeypatch.setattr(cluster, "load_snapshot", counted)
    copies = cluster.RemoteRuns()

    async def poll() -> list[uuid.UUID]:
        for copy in copies.open.values():
            copy.next_poll = 0.0
        read.clear()
        await copies.poll()
        return list(read)

    for row in rows:
        copies.get_or_create(row)
    assert len(await poll()) == 3
    assert await poll() == []
    first, second, _ = rows
    # It waits for the next answer.
    await run_in_db(Run.objects.filter(pk=first.pk).update, waited_seconds=1.5)
    await run_in_db(recovery.end_run, second, {"status": Run.Status.STOPPED})
    assert await poll() == [first.pk, second.pk]
    assert await poll() == []
    assert [copy.state.outcome for copy in copies.open.values()].count(None) == 2


def _waiting_row(status: str = "waiting", **columns: Any) -> Run:
    *_, reply = Tree(conversation()).grow(None, 2)
    return made_run(reply, status, tools=["web_search"], **columns)


def _loop(row: Run, call: Any = None) -> ToolLoop:
    tool: Any = SimpleNamespace(name="read_page", call=call, permission=lambda *_: None)
    return ToolLoop(ActiveRun.of(row, RunState(RunInfo.of(row))), [tool], row.worker_id or row.pk, "en")


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
async def test_a_process_that_has_lost_the_run_makes_no_call() -> None:
    """It may have been frozen: another one has found it dead, and makes the call itself."""
    call, request = AsyncMock(), Mock(messages=[])
    loop = _loop(await run_in_db(_waiting_row), call)  # which has no owner
    with pytest.raises(asyncio.CancelledError):
        await loop.call_all(request, [{"id": "a", "function": {"name": "read_page", "arguments": "{}"}}])
    assert not call.called


@pytest.mark.django_db(transaction=True)
async def test_without_time_left_no_call_is_made(settings: Any) -> None:
    settings.TOOL_TOTAL_SECONDS = 0
    with pytest.raises(ToolFailed, match="No time is left for calls in this reply") as failed:
        await _loop(await run_in_db(_waiting_row))._result("read_page", {})
    assert "Answer with what you have" in failed.value.text


@pytest.mark.django_db(transaction=True)
async def test_the_seconds_of_calls_are_the_same_after_a_wait(settings: Any) -> None:
    """Calls that had to wait for others were counted with the time that they had waited."""
    settings.TOOL_CALLS_AT_ONCE = 1
    row = await run_in_db(_waiting_row, "running")
    before, after = _loop(row, lambda *_: asyncio.sleep(0.2, ToolResult("Done"))), _loop(row)
    await asyncio.gather(*(before._call(str(n), "read_page", {}) for n in range(4)))
    after._restore(await run_in_db(list, row.steps.all()))
    assert after._seconds_left == pytest.approx(before._seconds_left, abs=0.3)


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
async def test_a_run_that_waited_keeps_the_time_of_its_start() -> None:
    """It queues once more, for its turn in the process that goes on."""
    began = timezone.now() - timedelta(hours=1)
    row = await run_in_db(partial(_waiting_row, "queued", started=began))
    active_run = ActiveRun.of(row, RunState(RunInfo.of(row)))
    active_run.set_queue_position(0)
    batch: Batch[ActiveRun] = Batch(live=[active_run], chunks=[], ended=[])
    worker: Any = row.worker_id
    await run_in_db(run_storage.save, batch, worker)
    stored = await run_in_db(Run.objects.get, pk=row.pk)
    assert (stored.status, stored.started) == ("running", began)
    active_run.end(RunOutcome(Run.Status.COMPLETE))
    assert (active_run.outcome_columns() or {}).get("started", began) == began


@pytest.mark.database
def test_a_claim_whose_confirmation_was_lost_is_made_again(one: Server, web: Web) -> None:
    with one.person("alice").ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        until(lambda: is_released(one, stream.run))
        owner = "status = 'running', worker_id = (SELECT id FROM chat_worker)"
        one.database.rows(f"UPDATE chat_run SET {owner}")
        one.database.rows("UPDATE chat_step SET answer = 'once'")
        stream.to_end()
    assert stream.done
    assert (stream.done["status"], stream.text) == ("complete", "I look.\n\nOf ash [1].")
    assert web.asked == ["/made-up"]


@pytest.mark.database
def test_a_stop_after_it_went_on_ends_alike_for_all_viewers(one: Server, web: Web) -> None:
    alice = one.person("alice")
    web.answers.clear()
    with alice.ask(reads(f"{web.url}/made-up"), **MINE) as stream:
        until_waiting(stream)
        answered(alice, stream.run)
        until(lambda: web.asked)
        alice.stop(stream.run)
        stream.to_end()
    web.answers.set()
    again = alice.followed(stream.run)
    assert stream.done
    assert (stream.done["status"], stream.done) == ("stopped", again.done)
    assert stream.done["usage"]
    assert (stream.text, stream.position) == (again.text, again.position)


@pytest.mark.django_db
def test_what_was_found_before_it_waited_is_counted_once() -> None:
    row = _waiting_row()
    row.suspended, row.cited = {"messages": [], "links": []}, 1
    before, after = (Citation(title=name, url=f"https://web.example/{name}", text=name) for name in "ab")
    active_run = ActiveRun.of(row, RunState(RunInfo.of(row)))
    active_run.citations_before = [before]
    active_run.found = [Citation(title="a", url="https://web.example/a", text="a"), after]
    active_run.note_citations()
    active_run.end(RunOutcome(Run.Status.COMPLETE))
    assert active_run.outcome
    assert (active_run.citations, active_run.outcome.cited) == ((after,), 2)
