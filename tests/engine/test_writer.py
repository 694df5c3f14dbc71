"""The writer's own troubles: slow commits, refused rows, and a journal that does not obey."""

import asyncio
import errno
import logging
import time
import uuid
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.db import OperationalError

from chat.engine.generation import writer
from chat.engine.generation.active_run import ActiveRun
from chat.engine.generation.run_storage import WriteResult, save_batch
from chat.engine.generation.writer import Writer
from chat.engine.outcome import RunOutcome
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.limits import MAX_CITATIONS
from chat.models import Citation, Message, Run, SearchDocument, Worker
from chat.ownership import journal
from chat.ownership.journal import Journal
from chat.ownership.protocol import Batch, Texts
from chat.upstream.catalog import LlmModel
from chat.upstream.chat_request import ChatRequest, SentPart
from chat.upstream.completion_stream import CompletionStream
from chat.upstream.providers.ai_gateway import GatewayLogRef
from chat.wire.text import OverlapFilter
from chat.wire.usage import UsageAccumulator
from tests.support.message_trees import Tree, conversation, run
from tests.support.waiting import becomes


class Database:
    """A stand-in for the transaction alone: what it does is said by each test."""

    def __init__(self) -> None:
        self.is_away = False
        self.seconds = 0.0
        self.lost: list[uuid.UUID] = []
        self.texts: list[str] = []
        self.transactions = 0

    def save(self, batch: Batch[ActiveRun], worker: uuid.UUID) -> WriteResult:
        self.transactions += 1
        time.sleep(self.seconds)
        if self.is_away:
            raise OperationalError("away")
        self.texts += [chunk.text for chunk in batch.chunks]
        lost = [active_run.id for active_run in batch.live if active_run.id in self.lost]
        return WriteResult({active_run.id: active_run.outcome for active_run in batch.ended}, [], [], lost)  # type: ignore[misc]


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    made = Database()
    monkeypatch.setattr(writer, "save_batch", made.save)
    return made


class Site:
    def __init__(self, folder: Path) -> None:
        self.worker = uuid.uuid4()
        self.folder = folder
        self.journal = Journal(folder, self.worker)
        self.writer = Writer(self.worker, self.journal, lambda result: None)
        self.writer.start()

    @property
    def has_file(self) -> bool:
        path = self.folder / f"{self.worker}.journal"
        return path.exists() and path.stat().st_size > 0

    def active_run(self) -> ActiveRun:
        state = RunState(RunInfo(uuid.uuid4(), uuid.uuid4(), uuid.uuid4(), uuid.uuid4(), "m"))
        made = ActiveRun(state, Run(id=state.info.run, status="running"), OverlapFilter(""))
        self.writer.add(made)
        return made


async def test_after_an_ending_that_was_late_the_writer_rests(database: Database, tmp_path: Path) -> None:
    site = Site(tmp_path)
    active_run = site.active_run()
    active_run.state.append("abc")
    database.is_away = True
    site.writer.finish(active_run, RunOutcome("complete"))
    await becomes(lambda: site.has_file)
    database.is_away = False
    await becomes(lambda: active_run.state.outcome)
    await becomes(lambda: not site.has_file)
    before = database.transactions
    await asyncio.sleep(0.5)
    assert database.transactions == before
    await site.writer.stop()


async def test_a_slow_database_keeps_its_pace_and_a_small_journal(database: Database, tmp_path: Path) -> None:
    database.seconds = 0.15
    site = Site(tmp_path)
    started = time.monotonic()
    for _ in range(10):
        active_run = site.active_run()
        active_run.state.append("x" * 1_000)
        await asyncio.sleep(0.1)
        site.writer.finish(active_run, RunOutcome("complete"))
    await becomes(lambda: active_run.state.outcome)
    assert database.transactions <= 3 + 10 * (time.monotonic() - started) / 0.15 / 2
    await becomes(lambda: not site.journal.is_written)
    await site.writer.stop()


async def test_an_outage_is_logged_once_and_so_is_its_end(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "chat.db.background")
    site = Site(tmp_path)
    active_run = site.active_run()
    database.is_away = True
    active_run.state.append("words")
    await becomes(lambda: database.transactions >= 3)
    database.is_away = False
    await becomes(lambda: active_run.stored == (5, 0))
    site.writer.finish(active_run, RunOutcome("complete"))
    await site.writer.stop()
    begin, end = [(record.levelno, record.message) for record in caplog.records]
    assert begin == (logging.ERROR, "storing a batch failed: OperationalError")
    assert end[1].startswith("storing a batch works again after ")


async def test_text_of_a_lost_run_stays_in_the_journal(database: Database, tmp_path: Path) -> None:
    """Keep them until they are merged: another process ended the run, so its chunks were not stored."""
    site = Site(tmp_path)
    active_run = site.active_run()
    active_run.state.append("stored. ")
    await becomes(lambda: active_run.stored == (8, 0))
    database.is_away = True
    active_run.state.append("seen during the cut. ")
    await becomes(lambda: site.has_file)
    database.is_away, database.lost = False, [active_run.id]
    before = database.transactions
    await becomes(lambda: database.transactions > before + 2)
    remains = journal.read(tmp_path, site.worker)[active_run.id]
    assert remains.appended_to(Texts("stored. ", "")).text == active_run.text
    site.writer.finish(active_run, RunOutcome("interrupted"))
    await site.writer.stop()
    assert not site.has_file


async def test_as_many_passages_are_announced_as_a_message_keeps(database: Database, tmp_path: Path) -> None:
    site = Site(tmp_path)
    active_run = site.active_run()
    parts = tuple(SentPart(uuid.uuid4(), "a.pdf", number, f"Page {number}.") for number in range(1, 131))
    request = ChatRequest([], LlmModel("m", "M", 1_000), 1, sent_parts=parts)
    active_run.note_passages(
        request, cast("CompletionStream", SimpleNamespace(decoder=SimpleNamespace(chunks=[], sources=[])))
    )
    active_run.end(RunOutcome("complete"))
    assert active_run.outcome
    assert len(active_run.citations) == active_run.outcome.cited == MAX_CITATIONS
    site.writer.finish(active_run, RunOutcome("complete"))
    await site.writer.stop()


async def test_citations_of_an_outage_are_in_the_journal(database: Database, tmp_path: Path) -> None:
    """Without any text: they are known before the first token."""
    site = Site(tmp_path)
    database.is_away = True
    active_run = site.active_run()
    active_run.citations = (Citation(title="a.pdf", page=2, text="A passage."),)
    await becomes(lambda: site.has_file)
    [found] = journal.read(tmp_path, site.worker)[active_run.id].citations
    assert (found.title, found.page, found.text) == ("a.pdf", 2, "A passage.")
    site.writer.finish(active_run, RunOutcome("interrupted"))
    database.is_away = False
    await site.writer.stop()
    assert not site.has_file


async def test_a_journal_that_cannot_be_removed_ends_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    site = Site(tmp_path)
    active_run = site.active_run()
    database.is_away = True
    active_run.state.append("abc")
    await becomes(lambda: site.has_file)
    monkeypatch.setattr(Path, "unlink", refuse)
    monkeypatch.setattr(journal.os, "truncate", refuse)
    database.is_away = False
    active_run.state.append("def")
    await becomes(lambda: "".join(database.texts).endswith("def"))
    monkeypatch.undo()
    site.writer._task.cancel()  # type: ignore[union-attr]


async def test_a_journal_that_hangs_does_not_keep_the_process(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path)
    monkeypatch.setattr(site.journal, "write", lambda entries: time.sleep(8))
    active_run = site.active_run()
    database.is_away = True
    active_run.state.append("abc")
    await asyncio.sleep(0.6)
    site.writer.finish(active_run, RunOutcome("interrupted"))
    began = time.monotonic()
    await site.writer.stop()
    assert time.monotonic() - began < 7.5


@pytest.mark.database
@pytest.mark.django_db
def test_a_refused_ending_does_not_stop_the_others() -> None:
    worker = Worker.objects.create(host="here", pid=1)
    bad, good = stored_draft(worker), stored_draft(worker)
    bad.end(RunOutcome("complete", finish_reason="stop"))
    bad.outcome = replace(bad.outcome, gateway_log_ref=GatewayLogRef("g", step=10**30))  # type: ignore[type-var]
    good.end(RunOutcome("complete"))
    save_batch(Batch(ended=[bad, good]), worker.pk)
    assert Run.objects.get(pk=good.id).status == "complete"
    assert Run.objects.get(pk=bad.id).status == "complete"
    assert Message.objects.filter(text="words").count() == 2
    assert SearchDocument.objects.filter(message__in=[bad.run.message_id, good.run.message_id]).count() == 2


@pytest.mark.database
@pytest.mark.django_db
def test_counts_beyond_what_a_column_holds_are_cut() -> None:
    worker = Worker.objects.create(host="here", pid=1)
    active_run, tally = stored_draft(worker), UsageAccumulator()
    tally.add_total({"prompt_tokens": 1, "completion_tokens": 10**30})
    active_run.end(RunOutcome("complete", usage=tally.usage()))
    save_batch(Batch(ended=[active_run]), worker.pk)
    assert Run.objects.get(pk=active_run.id).completion_tokens == 2**31 - 1


def stored_draft(worker: Worker) -> ActiveRun:
    tree = Tree(conversation())
    question = tree.message(None, "Why?")
    question.save()
    reply = Message.objects.create(conversation=tree.conversation, parent=question, role="assistant")
    row = run(reply, "running", worker=worker)
    state = RunState.__new__(RunState)
    state.text, state.reasoning = "words", ""
    return ActiveRun(state, row, OverlapFilter(""))
