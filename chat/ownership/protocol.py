"""The ownership protocol: which process writes a run, when a process counts as dead, and which text is kept.

Pure: no clock, no database, no event loop. Times are seconds of the caller's monotonic clock. No wall clock
is used, so a wrong one cannot mislead. The server drives these classes against the database, and
`tests/simulation` drives the same classes against a model of it. The rules:

1. A run belongs to the worker and the epoch that its row names. No other process ever generates it.
2. A worker renews its lease by incrementing the heartbeats in its row. Its epoch is the one of the row.
3. A worker counts as dead once its row has not changed for `SILENT_SECONDS` during which the observer's own
   heartbeats succeeded without a gap. So after an outage, every observer first waits a full silent period.
4. A process lock that is held proves life (for `LOCK_TRUSTED_SECONDS`), one that is free proves death.
5. Fencing a dead worker increments its epoch, provided that its row is still the one that was observed. Runs
   of a smaller epoch are orphans: any process may end them, any number of times, with the stored text, or let
   one wait again that had only been claimed.
6. A run ends once: the first process that changes its row from live to ended decides the outcome. An owner
   that comes too late still stores its text if that is longer (`merge`).
7. Text and outcomes that are not known to be stored are sent again unchanged until the database has confirmed
   them. An outcome is announced only after that. A reply never runs further ahead of its stored text than
   `AHEAD_SECONDS`.
"""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

HEARTBEAT_SECONDS = 3.0
SILENT_SECONDS = 12.0
LAUNCH_SECONDS = 2.0  # a run whose row is there has a task by then, unless its confirmation was lost
STEADY_SECONDS = 6.0  # the longest gap in a process's own heartbeats after which its observations stay valid
LOCK_TRUSTED_SECONDS = 900.0  # longer than a reply may take: a process that hangs for ever keeps no run live
AHEAD_SECONDS = 60.0  # replies are paused once nothing could be stored for so long
LATE_SECONDS = 5.0  # viewers are warned once nothing could be stored for so long

TEXT, REASONING = "t", "r"


class Heartbeat(NamedTuple):
    """The lease of a worker as it was read once: its epoch, and its number of heartbeats."""

    epoch: int
    number: int


W = TypeVar("W", bound=Hashable)
Id = TypeVar("Id", bound=Hashable)


class Lease(Generic[W]):
    """The lease of this process, and its observations of the other workers."""

    def __init__(self, worker: W, epoch: int = 1) -> None:
        self.worker = worker
        self.epoch = epoch
        # Per worker: its row, and the time from which on the row has not changed.
        self._observed: dict[W, tuple[Heartbeat, float]] = {}
        self._sent = float("-inf")
        self._answered = float("-inf")
        self._unknown: dict[Any, float] = {}  # own runs without a task, with the answer that named them first

    def renewed(self, sent: float, answered: float, rows: Mapping[W, Heartbeat]) -> None:
        """Record a confirmed heartbeat, with the rows of all workers, read after our own was written."""
        if max(answered - sent, sent - self._answered) > STEADY_SECONDS:
            self._observed.clear()
        before = self._observed
        # A new row was read at some moment up to `answered`, so its silence counts from then on.
        self._observed = {
            worker: before[worker] if worker in before and before[worker][0] == row else (row, answered)
            for worker, row in rows.items()
            if worker != self.worker
        }
        self.epoch = rows[self.worker].epoch
        self._sent, self._answered = sent, answered

    def failed(self) -> None:
        """Record a heartbeat that was not confirmed. Perhaps no worker's was, so forget all observations."""
        self._observed.clear()

    def is_certain(self, now: float) -> bool:
        """Return True if a run may begin under this lease: no other worker can have found this one silent."""
        return now - self._sent < SILENT_SECONDS

    def is_silent(self, worker: W, seconds: float = SILENT_SECONDS) -> bool:
        """Return True if the worker's row had not changed for `seconds` at our latest heartbeat."""
        observed = self._observed.get(worker)
        return observed is not None and self._sent - observed[1] >= seconds

    def alive(self) -> int:
        """Return the number of workers that are not known to be silent, this one included."""
        return 1 + sum(not self.is_silent(worker) for worker in self._observed)

    def to_fence(
        self, owners: Collection[W], is_locked: Callable[[W], bool | None]
    ) -> list[tuple[W, Heartbeat]]:
        """Return (worker, row as it was observed) of the dead among these owners of live runs.

        `is_locked` returns whether a worker's process lock is held; None if this process cannot see it.
        """
        return [
            (worker, self._observed[worker][0])
            for worker in owners
            if worker in self._observed and self._is_dead(worker, is_locked(worker))
        ]

    def _is_dead(self, worker: W, locked: bool | None) -> bool:
        if locked is False:
            return True
        return self.is_silent(worker, LOCK_TRUSTED_SECONDS if locked else SILENT_SECONDS)

    def abandoned(self, stored: Collection[Id], known: Collection[Id]) -> set[Id]:
        """Return own live runs (`stored`) without a task (not `known`) at two heartbeats with time between.

        The confirmation of their insertion was lost. At the first heartbeat they may be about to be launched;
        so they may at a second one right after it, as happens when an outage ends.
        """
        unknown = set(stored) - set(known)
        self._unknown = {run: self._unknown.get(run, self._answered) for run in unknown}
        return {run for run, since in self._unknown.items() if self._sent - since >= LAUNCH_SECONDS}


def may_fence(row: Heartbeat | None, observed: Heartbeat) -> bool:
    """Return True if a worker may be fenced: only while its row is the one that was found silent.

    The server asks the database instead: see `recovery.fence`. Tests compare the two.
    """
    return row == observed


def is_orphan(epoch: int, owner: Heartbeat | None) -> bool:
    """Return True if a live run of this epoch has lost its owner.

    The server asks the database instead: see `Run.objects.orphaned`. Tests compare the two.
    """
    return owner is None or epoch < owner.epoch


class Chunk(NamedTuple):
    run: Any  # the run's id
    kind: str
    start: int  # code points
    text: str


class OwnedRun(Protocol):
    """A run of this process. `batched_text` and `batched_reasoning`: code points that batches have taken."""

    batched_text: int
    batched_reasoning: int

    @property
    def id(self) -> Hashable: ...
    @property
    def text(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def has_ended(self) -> bool: ...


R = TypeVar("R", bound=OwnedRun)


@dataclass(slots=True)
class Batch(Generic[R]):
    """The content of one transaction. The rows of `live` are read for stop requests and lost runs."""

    live: list[R] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    ended: list[R] = field(default_factory=list)


class Backlog(Generic[R]):
    """The runs that this process writes, and the batch that is not known to be stored."""

    def __init__(self) -> None:
        self.runs: dict[Hashable, R] = {}
        self._batch: Batch[R] | None = None
        self._since: float | None = None

    def add(self, run: R) -> None:
        self.runs[run.id] = run

    def next_batch(self, now: float, *, tick: bool) -> Batch[R]:
        """Return what to store now. An unconfirmed batch is repeated unchanged, because it may be stored.

        Endings are due at once; text only at a tick, because the text of a run that ends needs no chunks.
        """
        if self._batch is None:
            self._batch = self._collect(tick=tick)
            self._since = now
        return self._batch

    def _collect(self, *, tick: bool) -> Batch[R]:
        batch: Batch[R] = Batch()
        for run in self.runs.values():
            if run.has_ended:
                batch.ended.append(run)
            elif tick:
                batch.live.append(run)
                self._take_new_text(run, batch.chunks)
        return batch

    def _take_new_text(self, run: R, chunks: list[Chunk]) -> None:
        if text := run.text[run.batched_text :]:
            chunks.append(Chunk(run.id, TEXT, run.batched_text, text))
            run.batched_text += len(text)
        if text := run.reasoning[run.batched_reasoning :]:
            chunks.append(Chunk(run.id, REASONING, run.batched_reasoning, text))
            run.batched_reasoning += len(text)

    def stored(self) -> list[R]:
        """Record that the database confirmed the batch. Return the ended runs, to be announced now."""
        assert self._batch is not None
        ended, self._batch, self._since = self._batch.ended, None, None
        for run in ended:
            del self.runs[run.id]
        return ended

    def is_late(self, now: float) -> bool:
        """Return True if viewers are to be warned that the text they see is not stored."""
        return self._since is not None and now - self._since >= LATE_SECONDS

    def may_grow(self, now: float) -> bool:
        """Return True if replies may run further ahead of their stored text."""
        return self._since is None or now - self._since < AHEAD_SECONDS


class Texts(NamedTuple):
    """A run's own text and reasoning, without those of the runs that it continues."""

    text: str
    reasoning: str

    def begins(self, other: "Texts") -> bool:
        """Return True if both texts are prefixes of those of `other`."""
        return other.text.startswith(self.text) and other.reasoning.startswith(self.reasoning)


class Merge(Enum):
    NOTHING = "the stored text has all of it"
    EXTEND = "the stored text is its beginning, and is replaced"
    SEPARATE = "something else follows the stored text: the longer one becomes a version of its own"


def merge(stored: Texts, ours: Texts, *, is_last: bool) -> Merge:
    """Decide what to do with `ours`, the text of an owner whose run another process has ended.

    `is_last`: no other run has continued the message after the stored text.
    """
    if ours.begins(stored):
        return Merge.NOTHING
    return Merge.EXTEND if is_last and stored.begins(ours) else Merge.SEPARATE
