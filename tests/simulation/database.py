"""A model of the tables: what each transaction of `chat/ownership` and of the writer does to them."""

from dataclasses import dataclass, field
from typing import Any

from chat.ownership import protocol
from chat.ownership.protocol import Batch, Heartbeat, Merge, Texts

from .world import World


class Violation(AssertionError):
    """The protocol broke its word."""


@dataclass(slots=True)
class Message:
    text: str = ""
    runs: list[int] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RunRow:
    id: int
    message: Message
    worker: int | None
    epoch: int
    start: int
    owner: int
    sent_at: float
    inserted_at: float
    status: str = "running"
    length: int = 0
    chunks: dict[int, str] = field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        return self.status == "running"

    def joined(self) -> str:
        """The chunks up to the first gap."""
        text = ""
        while piece := self.chunks.get(len(text)):
            text += piece
        return text

    def stored(self) -> str:
        return self.joined() if self.is_live else self.message.text[self.start : self.start + self.length]


class Database:
    def __init__(self, world: World) -> None:
        self.world = world
        self.workers: dict[int, Heartbeat] = {}
        self.runs: dict[int, RunRow] = {}
        self.live: dict[int, RunRow] = {}
        self.last_heartbeat: dict[int, float] = {}
        self.fenced_at: dict[tuple[int, int], float] = {}
        self.guards_endings = True

    # Each of these is one transaction.

    def heartbeat(self, worker: int, epoch: int) -> tuple[dict[int, Heartbeat], set[int], set[int]]:
        row = self.workers.get(worker)
        self.workers[worker] = Heartbeat(row.epoch, row.number + 1) if row else Heartbeat(epoch, 0)
        self.last_heartbeat[worker] = self.world.now
        owners = {run.worker for run in self.live.values() if run.worker is not None}
        own = {run.id for run in self.live.values() if run.worker == worker}
        return dict(self.workers), owners, own

    def open(self, run: int, message: Message, worker: int, epoch: int, sent: float) -> bool:
        if run in self.runs:  # the same key again
            return False
        if any(self.runs[other].is_live for other in message.runs):
            return False
        row = RunRow(run, message, worker, epoch, len(message.text), worker, sent, self.world.now)
        self.runs[run] = self.live[run] = row
        message.runs.append(run)
        return True

    def fence(self, worker: int, observed: Heartbeat) -> bool:
        row = self.workers.get(worker)
        if row is None or not protocol.may_fence(row, observed):
            return False
        self.workers[worker] = Heartbeat(row.epoch + 1, row.number)
        self.fenced_at[worker, row.epoch] = self.world.now
        return True

    def end_orphans(self) -> list[int]:
        orphans = [
            run
            for run in self.live.values()
            if protocol.is_orphan(run.epoch, self.workers.get(run.worker) if run.worker is not None else None)
        ]
        for run in orphans:
            self._finish(run, run.joined(), "interrupted")
        return [run.id for run in orphans]

    def end_abandoned(self, worker: int, abandoned: set[int]) -> None:
        for run in abandoned:
            row = self.live.get(run)
            if row is not None and row.worker == worker:
                self._finish(row, row.joined(), "interrupted")

    def save(self, batch: Batch[Any], worker: int) -> tuple[dict[int, str], list[int]]:
        """Returns how runs ended, and which are lost."""
        live = {run.id for run in self.live.values() if run.worker == worker}
        for chunk in batch.chunks:
            if chunk.run in live:
                self.runs[chunk.run].chunks.setdefault(chunk.start, chunk.text)
        endings = {run.id: self.end(run.id, worker, run.text, run.status) for run in batch.ended}
        return endings, [run.id for run in batch.live if run.id not in live]

    def end(self, run: int, worker: int, text: str, status: str) -> str:
        row = self.runs[run]
        if not (row.is_live and row.worker == worker):
            self.keep_longer(row, text)
            if self.guards_endings:
                return row.status
            if row.status != status:
                raise Violation(f"run {run} ended twice: {row.status}, then {status}")
            return status
        self._finish(row, text, status)
        return status

    def replay(self, worker: int, entries: dict[int, tuple[str, str]]) -> None:
        for run, (text, status) in entries.items():
            row = self.runs.get(run)
            if row is not None:
                self.end(run, worker, max(row.stored(), text, key=len), status or "interrupted")

    def keep_longer(self, row: RunRow, text: str) -> None:
        if row.is_live:
            return
        row.chunks.clear()
        end = row.start + row.length
        is_last = not any(self.runs[other].start >= end for other in row.message.runs if other != row.id)
        match protocol.merge(Texts(row.stored(), ""), Texts(text, ""), is_last=is_last):
            case Merge.EXTEND:
                row.message.text = row.message.text[: row.start] + text
                row.length = len(text)
            case Merge.SEPARATE:
                row.message.versions.append(row.message.text[: row.start] + text)

    def _finish(self, row: RunRow, text: str, status: str) -> None:
        if len(row.message.text) != row.start:
            raise Violation(f"run {row.id} would be written behind a text that is not its beginning")
        row.message.text += text
        row.length = len(text)
        row.status, row.worker = status, None
        row.chunks.clear()
        del self.live[row.id]

    def holds(self, run: int, text: str) -> bool:
        """Return True if this text of a run can be read: in its message, or in a version of it."""
        row = self.runs[run]
        whole = row.message.text[: row.start] + text
        return row.stored().startswith(text) or any(
            version.startswith(whole) for version in row.message.versions
        )
