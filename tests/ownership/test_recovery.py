"""The database's side of ownership: fencing, orphans, text that comes late, and journals."""

import asyncio
import gc
import stat
import uuid
import weakref
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from chat.engine.streaming.feed import PlainFeed
from chat.engine.streaming.html_feed import HtmlFeed
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.models import Citation, Message, Run, RunChunk, Step, Worker
from chat.ownership import journal, recovery
from chat.ownership.journal import Entry, Journal, ProcessLock
from chat.ownership.protocol import Heartbeat, Texts
from tests.support.message_trees import Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def worker() -> Worker:
    return Worker.objects.create(host="here", pid=1)


@pytest.fixture
def reply() -> Message:
    tree = Tree(conversation())
    question = tree.message(None, "Why?")
    question.save()
    message = Message.objects.create(conversation=tree.conversation, parent=question, role="assistant")
    tree.show(message)
    return message


def live_run(reply: Message, worker: Worker, *pieces: str, epoch: int = 1) -> Run:
    made = run(reply, "running", worker=worker, epoch=epoch, text_offset=len(reply.text))
    start = 0
    for piece in pieces:
        RunChunk.objects.create(run=made, kind="t", start=start, text=piece)
        start += len(piece)
    return made


def recover(folder: Path, worker: uuid.UUID | None = None, **more) -> None:
    recovery.recover(folder, worker or uuid.uuid4(), more.pop("fences", []), more.pop("abandoned", []))


def stored(reply: Message) -> str:
    reply.refresh_from_db()
    return reply.text


def test_recovery_ends_only_runs_of_a_past_epoch(worker: Worker, reply: Message, tmp_path: Path) -> None:
    left = live_run(reply, worker, "Be", "cause")
    other = Tree(conversation()).grow(None, 2)
    for message in other:
        message.save()
    going = live_run(other[-1], worker, "so far", epoch=2)
    recover(tmp_path, fences=[(worker.pk, Heartbeat(1, 0))])
    left.refresh_from_db()
    assert (left.status, left.worker_id, left.text_length, stored(reply)) == (
        "interrupted",
        None,
        7,
        "Because",
    )
    assert not RunChunk.objects.filter(run=left).exists()
    going.refresh_from_db()
    assert going.is_live


def test_a_step_stands_within_the_text_that_was_stored(
    worker: Worker, reply: Message, tmp_path: Path
) -> None:
    left = live_run(reply, worker, "I ")
    Run.objects.filter(pk=left.pk).update(tools=["web_search"])
    Step.objects.create(run=left, message=reply, number=1, turn=1, revision=1, text_offset=7)
    recover(tmp_path, fences=[(worker.pk, Heartbeat(1, 0))])
    assert list(Step.objects.values_list("state", "text_offset")) == [("stopped", 2)]


def test_a_run_of_ours_that_nobody_writes_is_ended(worker: Worker, reply: Message, tmp_path: Path) -> None:
    left = live_run(reply, worker)
    recover(tmp_path, uuid.uuid4(), abandoned=[left.pk])
    left.refresh_from_db()
    assert left.is_live  # another's
    recover(tmp_path, worker.pk, abandoned=[left.pk])
    left.refresh_from_db()
    assert left.status == "interrupted"


def test_a_heartbeat_counts_and_reads_who_owns_what(worker: Worker, reply: Message) -> None:
    mine = live_run(reply, worker)
    state = recovery.heartbeat(worker, 1)
    assert state.workers[worker.pk] == Heartbeat(1, 1)
    assert state.owners == {worker.pk}
    assert state.own_runs == {mine.pk}


def test_a_row_that_was_removed_is_made_again_in_the_next_epoch(worker: Worker) -> None:
    Worker.objects.all().delete()
    assert recovery.heartbeat(worker, 3).workers[worker.pk] == Heartbeat(4, 0)


def test_a_longer_text_that_comes_late_replaces_its_beginning(worker: Worker, reply: Message) -> None:
    late = live_run(reply, worker, "Because")
    recovery.interrupt(late)
    RunChunk.objects.create(run=late, kind="t", start=7, text=" it")  # of a write that came after the end
    recovery.keep_longer(late.pk, Texts("Because it is", ""))
    late.refresh_from_db()
    assert (stored(reply), late.text_length, late.status) == ("Because it is", 13, "interrupted")
    assert not RunChunk.objects.exists()


def test_a_shorter_text_that_comes_late_changes_nothing(worker: Worker, reply: Message) -> None:
    late = live_run(reply, worker, "Because")
    recovery.interrupt(late)
    recovery.keep_longer(late.pk, Texts("Be", ""))
    assert stored(reply) == "Because"
    assert Message.objects.filter(role="assistant").count() == 1


@pytest.mark.parametrize("is_running", [False, True])
def test_behind_a_text_that_was_continued_it_becomes_a_version(
    worker: Worker, reply: Message, is_running: bool
) -> None:
    late = live_run(reply, worker, "Because")
    recovery.interrupt(late)
    reply.refresh_from_db()
    further = live_run(reply, worker, " of that.")
    if not is_running:
        recovery.interrupt(further)
    for _ in range(2):  # a transaction whose result was lost is repeated
        recovery.keep_longer(late.pk, Texts("Because it is", ""))
    if is_running:
        recovery.interrupt(further)
    assert stored(reply) == "Because of that."
    version = Message.objects.exclude(pk=reply.pk).get(role="assistant")
    assert (version.text, version.parent_id) == ("Because it is", reply.parent_id)
    assert [made.status for made in version.runs.all()] == ["interrupted"]


def test_the_text_of_a_run_that_was_deleted_is_let_go() -> None:
    recovery.keep_longer(uuid.uuid4(), Texts("gone", ""))


def written(folder: Path, worker: uuid.UUID, *entries: Entry) -> Path:
    Journal(folder, worker).write(entries)
    return folder / f"{worker}.journal"


def test_a_dead_process_journal_ends_its_run_as_it_ended(
    worker: Worker, reply: Message, tmp_path: Path
) -> None:
    left = live_run(reply, worker, "Be")
    now = timezone.now().replace(microsecond=0)
    outcome = {"status": "complete", "finish_reason": "stop", "finished": now, "completion_tokens": 3}
    outcome |= {"because": "busy", "first_text": now}  # of an earlier version
    path = written(tmp_path, worker.pk, Entry(left.pk, (2, 0), "Because “so”\u2028\n", "", outcome))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    recover(tmp_path)
    left.refresh_from_db()
    assert (left.status, left.finished, left.completion_tokens) == ("complete", now, 3)
    assert (left.fallback_reason, left.first_text_at) == ("busy", now)
    assert stored(reply).startswith("Because ")
    assert not path.exists()


def test_a_journal_without_an_ending_interrupts(worker: Worker, reply: Message, tmp_path: Path) -> None:
    left = live_run(reply, worker, "Be")
    written(tmp_path, worker.pk, Entry(left.pk, (2, 0), "Because", "Hm.", {}))
    recover(tmp_path)
    left.refresh_from_db()
    reply.refresh_from_db()
    assert (left.status, reply.text, reply.reasoning) == ("interrupted", "Because", "Hm.")


def passages(*texts: str, attachment: uuid.UUID | None = None) -> tuple[Citation, ...]:
    return tuple(Citation(title="a.pdf", attachment_id=attachment, page=2, text=text) for text in texts)


@pytest.mark.parametrize("outcome", [{}, {"status": "complete", "cited": 2}], ids=["live", "ended"])
def test_citations_in_a_journal_are_stored(
    worker: Worker, reply: Message, tmp_path: Path, outcome: dict[str, Any]
) -> None:
    """That of a document which is deleted by now has no link."""
    left = live_run(reply, worker, "Be")
    cited = (*passages("One “so”."), *passages("Two.", attachment=uuid.uuid4()))
    kept = Journal(tmp_path, worker.pk)
    kept.write([Entry(left.pk, (2, 0), "Because", "", {}, cited)])
    kept.write([Entry(left.pk, (2, 0), "Because so", "", outcome, cited)])
    recover(tmp_path)
    left.refresh_from_db()
    assert left.cited == 2
    rows = Citation.objects.filter(message=reply).order_by("number")
    assert list(rows.values_list("number", "title", "page", "text", "attachment")) == [
        (1, "a.pdf", 2, "One “so”.", None),
        (2, "a.pdf", 2, "Two.", None),
    ]


def test_stored_citations_are_not_stored_again_by_a_journal(
    worker: Worker, reply: Message, tmp_path: Path
) -> None:
    """A commit whose confirmation was lost, of a run that another process has ended."""
    left = live_run(reply, worker, "Be")
    Citation.objects.add(reply.pk, passages("One."))
    recovery.interrupt(left)
    written(tmp_path, worker.pk, Entry(left.pk, (2, 0), "Because", "", {}, passages("One.", "Two.")))
    recover(tmp_path)
    rows = Citation.objects.filter(message=reply).order_by("number")
    assert list(rows.values_list("text", flat=True)) == ["One.", "Two."]


def test_citations_are_written_once_and_kept_until_stored(tmp_path: Path) -> None:
    worker, run_id = uuid.uuid4(), uuid.uuid4()
    kept, cited = Journal(tmp_path, worker), passages("A passage.")
    for text in ("a", "ab", "abc"):
        kept.write([Entry(run_id, (0, 0), text, "", {}, cited)])
    assert (tmp_path / f"{worker}.journal").read_text().count("A passage.") == 1
    kept.settle({run_id: (3, 0)}, [run_id])
    [found] = journal.read(tmp_path, worker)[run_id].citations
    assert found.text == "A passage."
    kept.write([Entry(run_id, (3, 0), "abc", "", {}, passages("Another model's."))])
    assert [each.text for each in journal.read(tmp_path, worker)[run_id].citations] == ["Another model's."]
    kept.settle({run_id: (3, 0)}, [])
    assert not kept.is_written


def test_a_journal_completes_a_run_that_others_have_ended(
    worker: Worker, reply: Message, tmp_path: Path
) -> None:
    left = live_run(reply, worker, "Be")
    recovery.interrupt(left)
    written(tmp_path, worker.pk, Entry(left.pk, (2, 0), "Because", "", {"status": "complete"}))
    recover(tmp_path)
    left.refresh_from_db()
    assert (left.status, stored(reply)) == ("interrupted", "Because")


def test_the_journal_of_a_process_that_lives_is_left_alone(
    worker: Worker, reply: Message, tmp_path: Path
) -> None:
    lock = ProcessLock(tmp_path, worker.pk)
    left = live_run(reply, worker, "Be")
    path = written(tmp_path, worker.pk, Entry(left.pk, (2, 0), "Because", "", {}))
    recover(tmp_path)
    assert path.exists()
    left.refresh_from_db()
    assert left.is_live
    lock.release()
    recover(tmp_path)
    assert stored(reply) == "Because"


def test_a_journal_that_cannot_be_stored_is_kept_aside_and_said(
    worker: Worker, reply: Message, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One that somebody has damaged must not keep this process from its heartbeats."""
    left = live_run(reply, worker, "Be")
    path = written(tmp_path, worker.pk, Entry(left.pk, (2, 0), "Because", "", {"status": "unknown"}))
    (tmp_path / "notes.journal").write_text("a stray file")
    recover(tmp_path)
    assert not path.exists()
    assert path.with_suffix(".damaged").exists()
    assert "could not be stored" in caplog.text


def test_a_journal_waits_for_a_database_that_is_away(
    worker: Worker, reply: Message, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("the connection is lost")

    left = live_run(reply, worker, "Be")
    path = written(tmp_path, worker.pk, Entry(left.pk, (2, 0), "Because", "", {}))
    with monkeypatch.context() as patched:
        patched.setattr(recovery, "_store_remains", away)
        with pytest.raises(OperationalError):
            recover(tmp_path)
    assert path.exists()
    recover(tmp_path)
    assert stored(reply) == "Because"


def test_a_journal_grows_by_what_is_new_and_survives_a_cut_line(tmp_path: Path) -> None:
    worker, text = uuid.uuid4(), uuid.uuid4()
    kept = Journal(tmp_path, worker)
    kept.write([Entry(text, (2, 0), "stored and", "", {})])
    with (tmp_path / f"{worker}.journal").open("a") as file:
        file.write('\n{"run": "')  # a disk that was full for a moment
    kept.write([Entry(text, (2, 0), "stored and more", "", {})])
    remains = journal.read(tmp_path, worker)[text]
    assert [len(piece) for _, piece in remains.text] == [8, 5]
    assert remains.appended_to(Texts("st", "")) == Texts("stored and more", "")
    assert remains.appended_to(Texts("s", "")) == Texts("s", "")  # what stands between is missing
    kept.settle({text: (15, 0)}, [])
    assert journal.read(tmp_path, worker) == {}


def test_the_queries_of_every_tick_look_at_live_runs_only(worker: Worker, reply: Message) -> None:
    """However many runs there were: by the plan, since a fast machine hides what a scan costs."""
    if connection.vendor == "postgresql":
        pytest.skip("its planner chooses by the table's size; the partial indexes are the same")
    for query in (
        Run.objects.live().values("pk", "worker_id"),
        Run.objects.live().filter(worker_id=worker.pk).values("pk", "stop_requested"),
        Run.objects.live().filter(conversation_id=reply.conversation_id),
        Run.objects.orphaned(),
    ):
        plan = query.explain()
        # Both hold live runs only: the partial indexes, and the status that is searched for.
        assert "run_live_by" in plan or "run_by_state (status=?" in plan, plan
        assert "SCAN chat_run\n" not in f"{plan}\n"


def test_a_finished_run_is_freed_without_a_garbage_collection() -> None:
    async def finished() -> "weakref.ref[RunState]":
        state = RunState(RunInfo(uuid.uuid4(), uuid.uuid4(), uuid.uuid4(), uuid.uuid4(), "m"))
        PlainFeed.of(state).subscribe()
        HtmlFeed.of(state).subscribe()
        state.append("text")
        await asyncio.sleep(0.2)
        state.close()
        return weakref.ref(state)

    gc.disable()
    try:
        assert asyncio.run(finished())() is None
    finally:
        gc.enable()


def test_old_workers_are_forgotten_with_their_locks(worker: Worker, tmp_path: Path) -> None:
    ProcessLock(tmp_path, worker.pk)
    Worker.objects.update(heartbeat_at=timezone.now() - timedelta(days=2))
    recover(tmp_path)
    assert not Worker.objects.exists()
    assert list(tmp_path.iterdir()) == []
