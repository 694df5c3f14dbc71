"""Runs that another process owns, followed by its messages and always by the database as well."""

import asyncio
import uuid
from dataclasses import dataclass

from django.db import Error

from chat.db.background import FailureLog
from chat.db.executor import run_in_db
from chat.engine.outcome import RunOutcome
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.models import Message, Run, RunChunk
from chat.wire.position import Position

DATABASE_POLL_SECONDS = 1.0  # interval of reading the database while no messages come
POLL_WHILE_PUSHED_SECONDS = 3.0  # the same interval while messages come, as one may be lost
IDLE_SECONDS = 10.0  # a live remote run without viewers is dropped after this time, an ended one at once


class RemoteRun(RunState):
    """A copy of a run of another process. The owner's deltas and the database's chunks both use `apply`."""

    def __init__(self, info: RunInfo) -> None:
        super().__init__(info)
        self.next_poll = 0.0
        self.last_watched = asyncio.get_running_loop().time()

    def apply(self, at: Position, text: str, reasoning: str) -> bool:
        """Append the new part of texts that begin at `at`. Return False if text before `at` is missing."""
        if at.text > len(self.text) or at.reasoning > len(self.reasoning):
            return False
        text, reasoning = text[len(self.text) - at.text :], reasoning[len(self.reasoning) - at.reasoning :]
        self.append(text, reasoning)
        return True


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """The stored text of a run from `at` on; if the run has ended, its whole text and its outcome."""

    at: Position
    text: str
    reasoning: str
    outcome: RunOutcome | None


def load_snapshot(run: uuid.UUID, at: Position) -> RunSnapshot:
    """Read the stored state of a run. A run that was deleted with its conversation counts as interrupted.

    The row is read before and after the chunks, because a run that ends in between has its chunks deleted.
    """
    row = Run.objects.filter(pk=run).first()
    if row is not None and row.is_live:
        text, reasoning = RunChunk.objects.texts(run, at.text, at.reasoning)
        if Run.objects.live().filter(pk=run).exists():
            return RunSnapshot(at, text, reasoning, None)
        row = Run.objects.filter(pk=run).first()
    try:
        if row is not None:
            return RunSnapshot(Position(), *row.texts(), RunOutcome.from_run(row))
    except Message.DoesNotExist:  # its conversation was deleted since the row was read
        pass
    return RunSnapshot(Position(), "", "", RunOutcome(Run.Status.INTERRUPTED))


class RemoteRuns:
    """The remote runs that viewers of this process follow; dropped when the last viewer has left."""

    def __init__(self) -> None:
        self.open: dict[uuid.UUID, RemoteRun] = {}
        self._log = FailureLog("reading of runs of other processes")

    def get_or_create(self, run: Run) -> RemoteRun:
        """Return the copy of `run`: one per process, however many viewers there are."""
        return self.keep(self.open.get(run.pk) or RemoteRun(RunInfo.of(run)))

    def keep(self, remote_run: RemoteRun) -> RemoteRun:
        """Restart the time after which `poll` drops a remote run without viewers, for one about to join.

        Otherwise a viewer could join a run that is no longer polled, and wait for ever.
        """
        remote_run.last_watched = asyncio.get_running_loop().time()
        return self.open.setdefault(remote_run.info.run, remote_run)

    def append(self, run: uuid.UUID, at: Position, text: str, reasoning: str) -> None:
        """Apply text from the owner. After a gap, the next `poll` reads the database at once."""
        if remote_run := self.open.get(run):
            now = asyncio.get_running_loop().time()
            applied = remote_run.apply(at, text, reasoning)
            remote_run.next_poll = now + POLL_WHILE_PUSHED_SECONDS if applied else 0.0

    def poll_soon(self, run: uuid.UUID) -> None:
        """Read the database at once: the owner says that the run has ended."""
        if remote_run := self.open.get(run):
            remote_run.next_poll = 0.0

    async def poll(self) -> None:
        """Read every remote run that is due, and drop the unused. To be called a few times a second."""
        now = asyncio.get_running_loop().time()
        for run, remote_run in list(self.open.items()):
            if remote_run.viewers:
                remote_run.last_watched = now
            elif remote_run.outcome or now - remote_run.last_watched > IDLE_SECONDS:
                del self.open[run]
                remote_run.close()
            if remote_run.outcome is None and now >= remote_run.next_poll:
                remote_run.next_poll = now + DATABASE_POLL_SECONDS
                await self.refresh(remote_run)

    async def refresh(self, remote_run: RemoteRun) -> None:
        """Read what the database has of the run. If it cannot be read now, `poll` tries again."""
        try:
            snapshot = await run_in_db(load_snapshot, remote_run.info.run, remote_run.end)
        except Error as error:
            self._log.failed(error)
            return
        self._log.succeeded()
        if snapshot.outcome is None:
            remote_run.apply(snapshot.at, snapshot.text, snapshot.reasoning)
        else:
            remote_run.replace(snapshot.text, snapshot.reasoning)
            remote_run.finish(snapshot.outcome)
