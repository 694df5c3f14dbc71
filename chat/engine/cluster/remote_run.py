"""Runs that another process owns, followed from here: by its messages, and by the database always."""

import asyncio
import logging
import uuid
from dataclasses import dataclass

from django.db import DatabaseError

from chat.db import run_in_db
from chat.engine.outcome import RunOutcome
from chat.engine.streaming.position import Position
from chat.engine.streaming.run_info import RunInfo, run_info_of
from chat.engine.streaming.run_state import RunState
from chat.models import Message, Run, RunChunk

POLL_SECONDS = 1.0  # seconds between looks into the database while the layer says nothing
IDLE_SECONDS = 10.0  # seconds a mirror stays that nobody watches
POLL_WHILE_PUSHED_SECONDS = 3.0  # seconds between looks while it does: a message may be lost

logger = logging.getLogger(__name__)


class RemoteRun(RunState):
    """A run of another process. Its deltas and the database's chunks go through the same door."""

    def __init__(self, about: RunInfo) -> None:
        super().__init__(about)
        self.next_poll = 0.0
        self.last_watched = asyncio.get_running_loop().time()

    def apply(self, at: Position, text: str, reasoning: str) -> bool:
        """Take what is new of this; False where something before it is missing."""
        if at.text > len(self.text) or at.reasoning > len(self.reasoning):
            return False
        text, reasoning = text[len(self.text) - at.text :], reasoning[len(self.reasoning) - at.reasoning :]
        if text or reasoning:
            self.append(text, reasoning)
        return True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the database holds of a run, from a position on; whole, where it has ended."""

    at: Position
    text: str
    reasoning: str
    outcome: RunOutcome | None


def load_snapshot(run: uuid.UUID, at: Position) -> Snapshot:
    """Read a run's state. A run that is gone, with its conversation, has been interrupted.

    The row is read before and after the chunks: a run that ends in between takes its chunks with it.
    """
    row = Run.objects.filter(pk=run).first()
    if row is not None and row.is_live:
        text, reasoning = RunChunk.objects.texts(run, at.text, at.reasoning)
        if Run.objects.live().filter(pk=run).exists():
            return Snapshot(at, text, reasoning, None)
        row = Run.objects.filter(pk=run).first()
    try:
        if row is not None:
            return Snapshot(Position(), *row.texts(), RunOutcome.from_run(row))
    except Message.DoesNotExist:  # its conversation was deleted in this moment
        pass
    return Snapshot(Position(), "", "", RunOutcome(Run.Status.INTERRUPTED))


class RemoteRuns:
    """The remote runs that somebody here watches; let go when the last viewer leaves."""

    def __init__(self) -> None:
        self.open: dict[uuid.UUID, RemoteRun] = {}

    def get(self, run: Run) -> RemoteRun:
        """One mirror a run and process, however many watch."""
        return self.keep(self.open.get(run.pk) or RemoteRun(run_info_of(run)))

    def keep(self, mirror: RemoteRun) -> RemoteRun:
        """Hold a mirror for a viewer that is about to join: `poll` lets go of one that nobody watches.

        Without this a viewer could join a mirror that is let go in the same moment, and wait for ever.
        """
        mirror.last_watched = asyncio.get_running_loop().time()
        return self.open.setdefault(mirror.info.run, mirror)

    def on_delta(self, run: uuid.UUID, at: Position, text: str, reasoning: str) -> None:
        """A message of the owner. A gap is filled from the database at the next look, which is now."""
        if mirror := self.open.get(run):
            now = asyncio.get_running_loop().time()
            mirror.next_poll = now + POLL_WHILE_PUSHED_SECONDS if mirror.apply(at, text, reasoning) else 0.0

    def on_finished(self, run: uuid.UUID) -> None:
        if mirror := self.open.get(run):
            mirror.next_poll = 0.0

    async def poll(self) -> None:
        """Look after every mirror that is due. To be called a few times a second."""
        now = asyncio.get_running_loop().time()
        for run, mirror in list(self.open.items()):
            if mirror.viewers:
                mirror.last_watched = now
            elif now - mirror.last_watched > IDLE_SECONDS:
                del self.open[run]
                mirror.close()
            if mirror.outcome is None and now >= mirror.next_poll:
                mirror.next_poll = now + POLL_SECONDS
                await self.refresh(mirror)

    async def refresh(self, mirror: RemoteRun) -> None:
        try:
            snapshot = await run_in_db(load_snapshot, mirror.info.run, mirror.end)
        except DatabaseError as error:
            logger.warning("a run elsewhere could not be read, trying again: %s", type(error).__name__)
            return
        if snapshot.outcome is None:
            mirror.apply(snapshot.at, snapshot.text, snapshot.reasoning)
        else:
            mirror.replace(snapshot.text, snapshot.reasoning)
            mirror.finish(snapshot.outcome)
