"""Store text in the database: the new text of all runs in one transaction per tick, outcomes at once.

500 replies cost 79 ms per tick on SQLite when written one by one, and 5 ms together. The statements are in
`run_storage.py`.
"""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable

from chat.db.background import FailureLog
from chat.db.executor import DatabaseExecutor
from chat.engine.outcome import RunOutcome
from chat.models.run import LIVE
from chat.ownership.journal import Entry, Journal
from chat.ownership.protocol import Backlog, Batch

from .active_run import ActiveRun
from .run_storage import WriteResult, save_batch

FLUSH_INTERVAL_SECONDS = 0.4  # with the commit, text is stored within 0.5 s
WRITE_RETRY_SECONDS = 0.4
JOURNAL_WAIT_SECONDS = 1.0  # longest wait for the journal's disk
JOURNAL_SECONDS = 0.1  # a transaction that takes longer has its text written to the journal as well
# Longest wait for the database at shutdown; text not stored by then is in the journal.
LAST_WRITE_SECONDS = 3.0

logger = logging.getLogger(__name__)


class Writer:
    """One task and one thread that write for all live runs of this process."""

    def __init__(self, worker: uuid.UUID, journal: Journal, on_result: Callable[[WriteResult], None]) -> None:
        self.is_behind = False
        self._worker = worker
        self._journal = journal
        self._on_result = on_result
        self._thread = DatabaseExecutor("db-writer")
        self._backlog: Backlog[ActiveRun] = Backlog()
        self._wake = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._stop_by = 0.0  # on the event loop's clock
        self._log = FailureLog("storing a batch", level=logging.ERROR)
        self._journaling: asyncio.Future[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._work(), name="writer")

    def add(self, active_run: ActiveRun) -> None:
        self._backlog.add(active_run)

    def finish(self, active_run: ActiveRun, outcome: RunOutcome) -> None:
        """Have the outcome of a run stored at once, and then announced to the viewers."""
        active_run.end(outcome)
        self._wake.set()

    async def caught_up(self) -> None:
        """Wait until replies may again run further ahead of the stored text."""
        while self.is_behind:
            await self._caught_up.wait()

    async def stop(self) -> None:
        """Write what is left, outcomes included, and end the task. Gives up after `LAST_WRITE_SECONDS`."""
        self._stop_by = asyncio.get_running_loop().time() + LAST_WRITE_SECONDS
        self._stopping = True
        self._wake.set()
        if self._task:
            await self._task
        await self._thread.aclose(LAST_WRITE_SECONDS)

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
                if self._stopping and not any(active_run.has_ended for active_run in self._active_runs()):
                    return
                if failed:
                    due = loop.time()  # text that came after the failed batch is overdue
                failed = False
            elif self._stopping and loop.time() > self._stop_by:
                return  # another process recovers these runs, with the text in the journal
            else:
                failed = True
                await asyncio.sleep(WRITE_RETRY_SECONDS)

    async def _try_to_flush(self, *, tick: bool) -> bool:
        """Flush; log an unexpected error, because it must not end the only task that stores."""
        try:
            return await self._flush(tick=tick)
        except Exception:
            logger.exception("the writer failed, trying again")
            return False

    def _active_runs(self) -> list[ActiveRun]:
        return list(self._backlog.runs.values())

    async def _flush(self, *, tick: bool) -> bool:
        if not self._backlog.runs:
            self._settle_journal()
            return True
        batch = self._backlog.next_batch(asyncio.get_running_loop().time(), tick=tick)
        storing = asyncio.ensure_future(self._thread(save_batch, batch, self._worker))
        # A hanging database raises no error: text that is not stored in time goes to the journal meanwhile.
        while not (await asyncio.wait({storing}, timeout=JOURNAL_SECONDS))[0]:
            await self._fall_behind()
            if self._stopping and asyncio.get_running_loop().time() > self._stop_by:
                return False
        try:
            result = storing.result()
        except Exception as error:
            self._log.failed(error)
            await self._fall_behind()
            return False
        self._log.succeeded()
        self._confirm(batch, result)
        self._catch_up()
        self._on_result(result)
        return True

    def _confirm(self, batch: Batch[ActiveRun], result: WriteResult) -> None:
        """Record in the runs what the database now has of them, and announce the outcomes."""
        for run in result.started:
            self._backlog.runs[run].mark_started()
        for run, number in result.cited.items():
            active_run = self._backlog.runs[run]
            active_run.citations_stored = number == len(active_run.citations)  # more may have come since
        for active_run in batch.live:
            if active_run.id not in result.lost:
                active_run.stored = active_run.batched_text, active_run.batched_reasoning
        for active_run in self._backlog.stored():
            outcome = result.outcomes[active_run.id]
            if outcome.status not in LIVE:
                active_run.state.finish(outcome)

    async def _fall_behind(self) -> None:
        """Write unstored text to the journal. Warn the viewers if it is late; pause replies too far ahead."""
        now = asyncio.get_running_loop().time()
        active_runs = self._active_runs()
        entries = [
            Entry(
                active_run.id,
                active_run.stored,
                active_run.text,
                active_run.reasoning,
                dict(active_run.outcome_columns() or {}),
                active_run.unstored_citations,
            )
            for active_run in active_runs
        ]
        await self._write_journal(entries)
        self.is_behind = not self._backlog.may_grow(now)
        if self._backlog.is_late(now):
            for active_run in active_runs:
                active_run.state.tell_unsaved(paused=self.is_behind)

    async def _write_journal(self, entries: list[Entry]) -> None:
        """Write in a thread and wait only briefly, because a hanging disk must not block the shutdown."""
        if self._journaling is None or self._journaling.done():
            write = asyncio.get_running_loop().run_in_executor(None, self._journal.write, entries)
            self._journaling = write
            write.add_done_callback(_log_failure)
            await asyncio.wait({write}, timeout=JOURNAL_WAIT_SECONDS)

    def _settle_journal(self) -> None:
        if not self._journal.is_written or (self._journaling and not self._journaling.done()):
            return
        active_runs = self._active_runs()
        live = {each.id: each.stored for each in active_runs if not each.has_ended}
        owed = {each.id for each in active_runs if each.has_ended or each.unstored_citations}
        try:
            self._journal.settle(live, owed)
        except OSError as error:
            logger.error("the journal could not be removed: %s", error.strerror)

    def _catch_up(self) -> None:
        """Settle the journal, let paused replies go on, and withdraw the warnings, after a stored batch."""
        self._settle_journal()
        if self.is_behind:
            self.is_behind = False
            self._caught_up.set()
            self._caught_up.clear()
        for active_run in self._active_runs():
            active_run.state.tell_saved()


def _log_failure(written: "asyncio.Future[None]") -> None:
    if not written.cancelled() and (error := written.exception()):
        logger.error("the journal could not be written: %r", error)
