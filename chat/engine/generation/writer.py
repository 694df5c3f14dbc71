"""Text to the database: every run's new text in one transaction a tick, endings at once.

500 replies written one by one cost 79 ms a tick on SQLite, together 5.
"""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from chat.db import CONNECTION_ERRORS, DatabaseExecutor, write_lock
from chat.engine.outcome import RunOutcome
from chat.models import Run, RunChunk
from chat.ownership.journal import Entry, Journal
from chat.ownership.protocol import Backlog, Batch, Texts
from chat.ownership.recovery import keep_longer

from .active_run import ActiveRun

FLUSH_INTERVAL_SECONDS = 0.4  # seconds; with the commit, text is stored within 0.5
RETRY_SECONDS = 0.4  # seconds
JOURNAL_WAIT_SECONDS = 1.0
JOURNAL_SECONDS = 0.1  # that a transaction may take before its text is written to the journal as well
LAST_SECONDS = 3.0  # for the database when the process ends; what is left then is in the journal

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class WriteResult:
    """What the database said: how runs ended (not always our word), which to stop, which are lost."""

    outcomes: dict[uuid.UUID, RunOutcome]
    started: list[uuid.UUID]
    stopped: list[uuid.UUID]
    lost: list[uuid.UUID]


class Writer:
    """One task and one thread that write for all live runs of this process."""

    def __init__(
        self, worker: uuid.UUID, journal: Journal, on_verdict: Callable[[WriteResult], None]
    ) -> None:
        self.is_behind = False
        self._worker = worker
        self._journal = journal
        self._on_result = on_verdict
        self._thread = DatabaseExecutor("db-writer")
        self._backlog: Backlog[ActiveRun] = Backlog()
        self._wake = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._stop_by = 0.0  # on the loop's clock
        self._journaling: asyncio.Future[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._work(), name="writer")

    def add(self, draft: ActiveRun) -> None:
        self._backlog.add(draft)

    def conclude(self, draft: ActiveRun, ending: RunOutcome) -> None:
        """Store this ending now, then announce it to the viewers."""
        draft.end(ending)
        self._wake.set()

    async def caught_up(self) -> None:
        """Wait while replies may run no further ahead of what is stored."""
        while self.is_behind:
            await self._caught_up.wait()

    async def stop(self) -> None:
        """Write what is left, endings included, and end."""
        self._stop_by = asyncio.get_running_loop().time() + LAST_SECONDS
        self._stopping = True
        self._wake.set()
        if self._task:
            await self._task
        await self._thread.aclose(LAST_SECONDS)

    async def _work(self) -> None:
        loop, failed = asyncio.get_running_loop(), False
        due = loop.time() + FLUSH_INTERVAL_SECONDS
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), due - loop.time())
            self._wake.clear()
            tick = loop.time() >= due
            due = loop.time() + FLUSH_INTERVAL_SECONDS if tick else due
            if await self._try_to_flush(tick=tick):
                if self._stopping and not any(draft.has_ended for draft in self._drafts()):
                    return
                if failed:
                    due = loop.time()  # what came after the batch that failed is due long since
                failed = False
            elif self._stopping and loop.time() > self._stop_by:
                return  # the next process finds these runs without an owner, and the journal
            else:
                failed = True
                await asyncio.sleep(RETRY_SECONDS)

    async def _try_to_flush(self, *, tick: bool) -> bool:
        """The only task that stores must not end by one mistake."""
        try:
            return await self._flush(tick=tick)
        except Exception:
            logger.exception("the writer broke, trying again")
            return False

    def _drafts(self) -> list[ActiveRun]:
        return list(self._backlog.runs.values())

    async def _flush(self, *, tick: bool) -> bool:
        if not self._backlog.runs:
            self._settle_journal()
            return True
        batch = self._backlog.next_batch(asyncio.get_running_loop().time(), tick=tick)
        storing = asyncio.ensure_future(self._thread(save_carefully, batch, self._worker))
        # A database that hangs says nothing, so what cannot be stored in time is written down meanwhile.
        while not (await asyncio.wait({storing}, timeout=JOURNAL_SECONDS))[0]:
            await self._fall_behind()
            if self._stopping and asyncio.get_running_loop().time() > self._stop_by:
                return False
        try:
            verdict = storing.result()
        except Exception as error:
            # An outage says all in its name; the place of any other error has to be found.
            known = isinstance(error, DatabaseError)
            logger.error(
                "the log could not be written, trying again: %s", type(error).__name__, exc_info=not known
            )
            await self._fall_behind()
            return False
        for run in verdict.started:
            self._backlog.runs[run].mark_started()
        for draft in batch.going:
            if draft.id not in verdict.lost:
                draft.stored = draft.saved_text, draft.saved_reasoning
        for draft in self._backlog.stored():
            draft.state.finish(verdict.outcomes[draft.id])
        self._catch_up()
        self._on_result(verdict)
        return True

    async def _fall_behind(self) -> None:
        """Keep what is not stored in the journal, tell the viewers, and in the end let the replies wait."""
        now = asyncio.get_running_loop().time()
        drafts = self._drafts()
        entries = [
            Entry(draft.id, draft.stored, draft.text, draft.reasoning, draft.outcome_columns())
            for draft in drafts
        ]
        await self._write_journal(entries)
        self.is_behind = not self._backlog.may_grow(now)
        if self._backlog.is_late(now):
            for draft in drafts:
                draft.state.tell_unsaved(paused=self.is_behind)

    async def _write_journal(self, entries: list[Entry]) -> None:
        """In a thread, and not for long: a disk that hangs must not keep the server from its end."""
        if self._journaling is None or self._journaling.done():
            write = asyncio.get_running_loop().run_in_executor(None, self._journal.write, entries)
            self._journaling = write
            write.add_done_callback(_log_failure)
            await asyncio.wait({write}, timeout=JOURNAL_WAIT_SECONDS)

    def _settle_journal(self) -> None:
        if not self._journal.is_written or (self._journaling and not self._journaling.done()):
            return
        going = {draft.id: draft.stored for draft in self._drafts() if not draft.has_ended}
        try:
            self._journal.settle(going, {draft.id for draft in self._drafts() if draft.has_ended})
        except OSError as error:
            logger.error("the journal could not be removed: %s", error.strerror)

    def _catch_up(self) -> None:
        """A batch is stored."""
        self._settle_journal()
        if self.is_behind:
            self.is_behind = False
            self._caught_up.set()
            self._caught_up.clear()
        for draft in self._drafts():
            draft.state.tell_saved()


def _log_failure(written: "asyncio.Future[None]") -> None:
    if not written.cancelled() and (error := written.exception()):
        logger.error("the journal could not be written: %r", error)


def conclude_apart(draft: ActiveRun, worker: uuid.UUID) -> RunOutcome:
    """Of an ending that is refused, what it says of its cost and of its way is left out."""
    try:
        with transaction.atomic():
            return conclude_run(draft, worker)
    except CONNECTION_ERRORS:
        raise
    except Exception:
        logger.exception("the ending of run %s is stored without its details", draft.id)
        assert draft.ending is not None
        draft.ending = RunOutcome(draft.ending.status, code=draft.ending.code, message=draft.ending.message)
        with transaction.atomic():
            return conclude_run(draft, worker)


def conclude_run(draft: ActiveRun, worker: uuid.UUID) -> RunOutcome:
    """The ending that holds: ours, or that of whoever was faster, which then gets our text."""
    assert draft.ending is not None
    has_chunks = bool(draft.saved_text or draft.saved_reasoning)
    text, reasoning = draft.text, draft.reasoning
    if draft.run.conclude(text, reasoning, worker=worker, has_chunks=has_chunks, **draft.outcome_columns()):
        return draft.ending
    keep_longer(draft.id, Texts(text, reasoning))
    theirs = Run.objects.filter(pk=draft.id).first()
    return RunOutcome.from_run(theirs) if theirs else RunOutcome(Run.Status.INTERRUPTED)


def save_carefully(batch: Batch[ActiveRun], worker: uuid.UUID) -> WriteResult:
    """`save`, where one row that the database refuses keeps the others from being stored: row by row."""
    try:
        return save(batch, worker)
    except CONNECTION_ERRORS:
        raise  # the database is away
    except Exception:
        logger.exception("a batch was refused; its endings are stored one by one")
        return save(batch, worker, conclude_apart)


def save(
    batch: Batch[ActiveRun],
    worker: uuid.UUID,
    conclude: Callable[[ActiveRun, uuid.UUID], RunOutcome] = conclude_run,
) -> WriteResult:
    """Write a batch in one transaction, and read how the process's own rows stand.

    Text of a run that is no longer ours (recovered, or deleted with its person) is left out.
    """
    with write_lock(), transaction.atomic():
        rows = _live_rows(worker) if batch.going else {}
        begun = [draft.id for draft in batch.going if draft.started and draft.id in rows]
        if begun:
            queued = Run.objects.filter(pk__in=begun, status=Run.Status.QUEUED, worker_id=worker)
            queued.update(status=Run.Status.RUNNING, started=timezone.now())
        # A commit whose answer was lost is repeated with the same rows, which are then there already.
        if chunks := [
            RunChunk(run_id=chunk.run, kind=chunk.kind, start=chunk.start, text=chunk.text)
            for chunk in batch.chunks
            if chunk.run in rows
        ]:
            RunChunk.objects.bulk_create(chunks, ignore_conflicts=True)
        endings = {draft.id: conclude(draft, worker) for draft in batch.endings}
    return WriteResult(
        endings,
        begun,
        stopped=[draft.id for draft in batch.going if rows.get(draft.id)],
        lost=[draft.id for draft in batch.going if draft.id not in rows],
    )


def _live_rows(worker: uuid.UUID) -> dict[Any, bool]:
    """This process's live runs, and whether each is asked to stop."""
    return dict(Run.objects.live().filter(worker_id=worker).values_list("pk", "stop_requested"))
