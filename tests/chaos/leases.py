"""The leases of a round, as the database showed them: when each worker's row changed, and who owned each run.

It judges fences by the rules of `chat/ownership/protocol.py`, but from what is stored alone.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import psycopg

from chat.ownership.protocol import SILENT_SECONDS, STEADY_SECONDS, Heartbeat
from tests.support.databases import Database

LOOK_SECONDS = 0.5
WORKERS = "SELECT id, pid, epoch, heartbeats FROM chat_worker"
LIVE_RUNS = "SELECT id, worker_id, epoch FROM chat_run WHERE worker_id IS NOT NULL"


class Change(NamedTuple):
    """A worker's row, which became this after the look at `after` and before the one at `by`."""

    after: float
    by: float
    row: Heartbeat


class Owner(NamedTuple):
    """The owner of a live run at `seen`, when it was last looked at."""

    worker: str
    epoch: int
    seen: float


class Silence(NamedTuple):
    """From a worker's last heartbeat to its fence, at the most: both happened between two looks."""

    begin: float
    end: float


class Leases:
    """All that was read in the looks at one round. Workers and runs are named by their ids."""

    def __init__(self) -> None:
        self.pids: dict[str, int] = {}
        self.changes: dict[str, list[Change]] = {}
        self.owners: dict[str, Owner] = {}
        self.missed: list[tuple[float, str]] = []  # looks that the database refused
        self._looked: float | None = None

    async def watch(self, database: Database) -> None:
        """Look until cancelled, past the links that faults take down."""
        while True:
            try:
                workers, runs = await asyncio.to_thread(database.each, WORKERS, LIVE_RUNS)
            except (psycopg.OperationalError, sqlite3.OperationalError) as error:
                self.missed.append((time.time(), str(error)))
            else:
                self.add(time.time(), workers, runs)
            await asyncio.sleep(LOOK_SECONDS)

    def add(
        self,
        at: float,
        workers: Iterable[tuple[object, int, int, int]],
        runs: Iterable[tuple[object, object, int]],
    ) -> None:
        """Record one look: rows of (worker, pid, epoch, heartbeats), and of (run, worker, epoch)."""
        for worker, pid, epoch, number in workers:
            self.pids[_id(worker)] = pid
            changes, row = self.changes.setdefault(_id(worker), []), Heartbeat(epoch, number)
            if not changes or changes[-1].row != row:
                changes.append(Change(at if self._looked is None else self._looked, at, row))
        for run, worker, epoch in runs:
            self.owners[_id(run)] = Owner(_id(worker), epoch, at)
        self._looked = at

    def pid_of(self, run: str) -> int | None:
        """Return the process that owned the run, if a look has found it live."""
        owner = self.owners.get(run)
        return self.pids[owner.worker] if owner else None

    def fenced(self, run: str) -> Silence | None:
        """Return the silence after which the run's owner was fenced; None if it was not."""
        if (owner := self.owners.get(run)) is None:
            return None
        changes = self.changes[owner.worker]
        fence = next((n for n, change in enumerate(changes) if change.row.epoch > owner.epoch), 0)
        return Silence(changes[fence - 1].after, changes[fence].by) if fence else None

    def expired(self, run: str) -> Silence | None:
        """Return that silence if it was long enough, before the eyes of a worker that never paused."""
        silence = self.fenced(run)
        if silence is None:
            return None
        others = [worker for worker in self.changes if worker != self.owners[run].worker]
        seen_since = min((self._steady_since(other, silence.end) for other in others), default=silence.end)
        is_long = silence.end - max(silence.begin, seen_since) >= SILENT_SECONDS
        return silence if is_long else None

    def _steady_since(self, worker: str, until: float) -> float:
        """Return the beginning of the heartbeats that reach `until` without a gap."""
        since = later = until
        for beat in reversed([beat for beat in self._heartbeats(worker) if beat.by <= until]):
            if later - beat.by > STEADY_SECONDS:
                break
            since = later = beat.after
        return since

    def _heartbeats(self, worker: str) -> Iterator[Change]:
        """Yield the changes that the worker made; a fence is another's."""
        number = -1
        for change in self.changes[worker]:
            if change.row.number != number:
                yield change
            number = change.row.number


def _id(value: object) -> str:
    """Return an id as both databases can have it."""
    return str(value).replace("-", "")
