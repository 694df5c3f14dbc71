"""The protocol of ownership: which process writes a run, when a process counts as dead, and which text stays.

Pure: no clock, no database, no event loop. Times are seconds of the caller's monotonic clock; no wall clock
takes part, so none can mislead. The engine drives these classes against the database, and
`tests/simulation` drives the same ones against a model of it. The rules:

1. A run belongs to the worker and the epoch that its row names. No other process ever generates for it.
2. A worker renews its lease by counting a heartbeat in its row. The database hands out the epoch.
3. A worker counts as dead once its row has not changed for `SILENT_SECONDS` in which the observer's own
   heartbeats succeeded without a gap: after an outage everybody waits for a full quiet period first.
4. A process lock that is held proves life (for `LOCK_TRUSTED_SECONDS`), one that is free proves death.
5. Fencing a dead worker raises its epoch, provided that its row is still the one that was observed. Runs of
   a smaller epoch are orphans: any process may end them, any number of times, with the text that is stored.
6. A run ends once: whoever changes its row from live to ended first. An owner that comes too late stores its
   text all the same where that is longer (`merge`).
7. What is not known to be stored is sent again unchanged until the database has confirmed it. An ending is
   announced only after that. A reply never runs further ahead of its log than `AHEAD_SECONDS`.
"""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

HEARTBEAT_SECONDS = 3.0
SILENT_SECONDS = 12.0
STEADY_SECONDS = 6.0  # the longest gap in one's own heartbeats that leaves observations standing
LOCK_TRUSTED_SECONDS = 900.0  # longer than a reply may take: a process that hangs for ever keeps no run live
AHEAD_SECONDS = 60.0
LATE_SECONDS = 5.0  # after which viewers are told that the text is not stored

TEXT, REASONING = "t", "r"


class Heartbeat(NamedTuple):
    """A worker's row as it was read once."""

    epoch: int
    number: int


W = TypeVar("W", bound=Hashable)
Id = TypeVar("Id", bound=Hashable)


class Lease(Generic[W]):
    """This process's lease, and its observations of the other workers."""

    def __init__(self, worker: W, epoch: int = 1) -> None:
        self.worker = worker
        self.epoch = epoch
        self._observed: dict[W, tuple[Heartbeat, float]] = {}
        self._sent = float("-inf")
        self._answered = float("-inf")
        self._unknown: set[Any] = set()

    def renewed(self, sent: float, answered: float, rows: Mapping[W, Heartbeat]) -> None:
        """Take the answer to a heartbeat: the rows of all workers, read after our own was written."""
        if max(answered - sent, sent - self._answered) > STEADY_SECONDS:
            self._observed.clear()
        before = self._observed
        # An unchanged row was read at some moment up to the answer: its silence counts from then.
        self._observed = {
            worker: before[worker] if worker in before and before[worker][0] == row else (row, answered)
            for worker, row in rows.items()
            if worker != self.worker
        }
        self.epoch = rows[self.worker].epoch
        self._sent, self._answered = sent, answered

    def failed(self) -> None:
        """Take a heartbeat that was not confirmed: perhaps nobody's was."""
        self._observed.clear()

    def is_certain(self, now: float) -> bool:
        """Nobody can have found this worker silent: a new run may begin under this lease."""
        return now - self._sent < SILENT_SECONDS

    def is_silent(self, worker: W, seconds: float = SILENT_SECONDS) -> bool:
        """The worker's row has not changed for this long, up to our latest heartbeat."""
        observed = self._observed.get(worker)
        return observed is not None and self._sent - observed[1] >= seconds

    def alive(self) -> int:
        """How many workers are not known to be silent, this one included."""
        return 1 + sum(not self.is_silent(worker) for worker in self._observed)

    def to_fence(
        self, owners: Collection[W], is_locked: Callable[[W], bool | None]
    ) -> list[tuple[W, Heartbeat]]:
        """The dead among these owners of live runs, each with its row as it was observed.

        `is_locked` says whether a worker's process lock is held; None where that cannot be seen from here.
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
        """Our own live runs that no task here writes, seen so at two heartbeats in a row.

        The answer to their insertion was lost. At one heartbeat they may be about to be launched.
        """
        unknown = set(stored) - set(known)
        abandoned = unknown & self._unknown
        self._unknown = unknown
        return abandoned


def may_fence(row: Heartbeat | None, observed: Heartbeat) -> bool:
    """A worker is fenced only while its row is the one that was found silent."""
    return row == observed


def is_orphan(epoch: int, owner: Heartbeat | None) -> bool:
    """A live run of this epoch has lost its owner."""
    return owner is None or epoch < owner.epoch


class Chunk(NamedTuple):
    run: Any  # the run's id
    kind: str
    start: int  # code points
    text: str


class OwnedRun(Protocol):
    """A run of this process: its texts so far, how much of them is stored, and whether it has ended."""

    saved_text: int
    saved_reasoning: int

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
    """What one transaction stores. The rows of `going` are read, for stop requests and loss."""

    going: list[R] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    endings: list[R] = field(default_factory=list)


class Backlog(Generic[R]):
    """The runs that this process writes, and what of them is not known to be stored."""

    def __init__(self) -> None:
        self.runs: dict[Hashable, R] = {}
        self._batch: Batch[R] | None = None
        self._since: float | None = None

    def add(self, run: R) -> None:
        self.runs[run.id] = run

    @property
    def is_pending(self) -> bool:
        """A batch was tried and is not known to be stored."""
        return self._batch is not None

    def next_batch(self, now: float, *, tick: bool) -> Batch[R]:
        """What to store now. A batch whose answer did not come is repeated unchanged: it may be stored.

        Endings are due at once; text only at a tick, since text of a run that ends needs no chunks.
        """
        if self._batch is None:
            self._batch = self._collect(tick=tick)
            self._since = now
        return self._batch

    def _collect(self, *, tick: bool) -> Batch[R]:
        batch: Batch[R] = Batch()
        for run in self.runs.values():
            if run.has_ended:
                batch.endings.append(run)
            elif tick:
                batch.going.append(run)
                self._take_new_text(run, batch.chunks)
        return batch

    def _take_new_text(self, run: R, chunks: list[Chunk]) -> None:
        if text := run.text[run.saved_text :]:
            chunks.append(Chunk(run.id, TEXT, run.saved_text, text))
            run.saved_text += len(text)
        if text := run.reasoning[run.saved_reasoning :]:
            chunks.append(Chunk(run.id, REASONING, run.saved_reasoning, text))
            run.saved_reasoning += len(text)

    def stored(self) -> list[R]:
        """The database confirmed the batch. Returns the runs whose endings may be announced now."""
        assert self._batch is not None
        ended, self._batch, self._since = self._batch.endings, None, None
        for run in ended:
            del self.runs[run.id]
        return ended

    def is_late(self, now: float) -> bool:
        """Viewers are to be told that what they see is not stored."""
        return self._since is not None and now - self._since >= LATE_SECONDS

    def may_grow(self, now: float) -> bool:
        """Whether replies may run further ahead of their log."""
        return self._since is None or now - self._since < AHEAD_SECONDS


class Texts(NamedTuple):
    """A run's own text and reasoning."""

    text: str
    reasoning: str

    def begins(self, other: "Texts") -> bool:
        return other.text.startswith(self.text) and other.reasoning.startswith(self.reasoning)


class Merge(Enum):
    NOTHING = "the stored text has all of it"
    EXTEND = "the stored text is its beginning, and is replaced"
    SEPARATE = "something else follows the stored text: the longer one becomes a version of its own"


def merge(stored: Texts, ours: Texts, *, is_last: bool) -> Merge:
    """What becomes of the text of an owner whose run somebody else has ended.

    `is_last`: no other run has continued the message behind the stored text.
    """
    if ours.begins(stored):
        return Merge.NOTHING
    return Merge.EXTEND if is_last and stored.begins(ours) else Merge.SEPARATE
