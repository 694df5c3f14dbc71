"""A server process: the protocol's classes between a model upstream, viewers, and a link to the database."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chat.ownership import protocol
from chat.ownership.protocol import Backlog, Batch, Heartbeat, Lease

from .database import Database, Message, Violation
from .world import LATENCY_SECONDS, Link, Outage, World

TICK_SECONDS = 1.0  # the engine's is 0.4; fewer events make more schedules
TOKEN_SECONDS = 0.7
JOURNAL_SECONDS = 0.25


@dataclass(slots=True)
class Run:
    """A run as its owner has it. Viewers see at once what it appends."""

    id: int
    length: int  # how long the model's reply is
    batched_text: int = 0
    batched_reasoning: int = 0
    stored: int = 0  # of the text, as the database has confirmed
    text: str = ""
    reasoning: str = ""
    status: str = ""
    unstored_since: float = 0.0

    @property
    def has_ended(self) -> bool:
        return bool(self.status)


class Host:
    """Processes on one host see each other's locks and journals."""

    def __init__(self) -> None:
        self.locked: set[int] = set()
        self.known: set[int] = set()
        self.journals: dict[int, dict[int, tuple[str, str]]] = {}

    def is_locked(self, worker: int) -> bool | None:
        return worker in self.locked if worker in self.known else None


class Viewers:
    """The texts of each run that viewers saw, with their times, and the end that they were told."""

    def __init__(self) -> None:
        self.seen: dict[int, list[float]] = {}  # when each character was
        self.texts: dict[int, str] = {}
        self.endings: dict[int, set[str]] = {}
        self.upstream_calls: dict[int, int] = {}

    def forgive(self, run: int, moment: float) -> None:
        """The process was killed: what it showed after this moment may be lost."""
        self.texts[run] = self.texts.get(run, "")[: bisect_right(self.seen.get(run, []), moment)]


class Process:
    def __init__(
        self, world: World, database: Database, link: Link, host: Host, viewers: Viewers, worker: int
    ) -> None:
        self.world, self.database, self.link, self.host, self.viewers = world, database, link, host, viewers
        self.worker = worker
        self.lease: Lease[int] = Lease(worker)
        self.backlog: Backlog[Run] = Backlog()
        self.is_alive = True
        self.frozen_at = self.frozen_until = 0.0
        self.impaired_until = 0.0  # frozen, cut off, or in trouble with single operations
        self._has_failed = False
        self.had_trouble = False
        self.outages: list[Outage] = []
        self.clock_jump = 0.0
        self.uses_wall_clock = False
        self.writes_journal = True
        self.announces_early = False
        self._offset = world.random.uniform(0, 1e6)  # no process knows another's clock
        self._storing = False
        self._is_recovering = False
        self._is_unconfirmed = False  # a batch was tried and is not known to be stored
        self._journal: dict[int, tuple[str, str]] = {}
        host.locked.add(worker)
        host.known.add(worker)

    def start(self) -> None:
        self._renew()
        self.later(TICK_SECONDS, self._tick)

    def clock(self) -> float:
        return self.world.now + self._offset + (self.clock_jump if self.uses_wall_clock else 0.0)

    def later(self, seconds: float, action: Callable[..., None], *arguments: Any) -> None:
        self.world.after(seconds, self._awake, action, arguments)

    def _awake(self, action: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if not self.is_alive:
            return
        if self.frozen_until > self.world.now:
            self.world.at(self.frozen_until, self._awake, action, arguments)
        else:
            action(*arguments)

    def _call(
        self, operation: Callable[[], Any], on_result: Callable[..., None], on_failure: Callable[[], None]
    ) -> None:
        self.link.call(
            operation, lambda result: self._awake(on_result, (result,)), lambda: self._awake(on_failure, ())
        )

    # Heartbeats and recovery, as HeartbeatTask does it.

    def _renew(self) -> None:
        sent, epoch, running = self.clock(), self.lease.epoch, set(self.backlog.runs)
        began = self.world.now

        def renewed(state: tuple[dict[int, Heartbeat], set[int], set[int]]) -> None:
            workers, owners, own = state
            self.lease.renewed(sent, self.clock(), workers)
            abandoned = self.lease.abandoned(own, running)
            if not self._is_recovering:
                self._is_recovering = True
                fences = self.lease.to_fence(owners, self.host.is_locked)
                self._call(lambda: self._recover(fences, abandoned), recovered, lambda: recovered(None))
            again()

        def recovered(_: Any) -> None:
            self._is_recovering = False

        def failed() -> None:
            self.lease.failed()
            again()

        def again() -> None:
            self.later(max(0.0, began + protocol.HEARTBEAT_SECONDS - self.world.now), self._renew)

        self._call(lambda: self.database.heartbeat(self.worker, epoch), renewed, failed)

    def _recover(self, fences: list[tuple[int, Heartbeat]], abandoned: set[int]) -> None:
        for dead, observed in fences:
            if self.database.fence(dead, observed):
                self.on_fence(dead)
        for dead, entries in list(self.host.journals.items()):
            if dead != self.worker and not self.host.is_locked(dead):
                self.database.replay(dead, entries)
                del self.host.journals[dead]
        self.on_orphans(self.database.end_orphans())
        self.database.end_abandoned(self.worker, abandoned)

    on_fence: Callable[[int], None]
    on_orphans: Callable[[list[int]], None]

    # Runs and the writer, as Supervisor and Writer do it.

    def send(self, run: int, message: Message, length: int) -> None:
        if not self.lease.is_certain(self.clock()):
            return  # the engine renews first; here the person tries again

        def opened(is_new: bool) -> None:
            if is_new:
                self._launch(Run(run, length))

        epoch, sent = self.lease.epoch, self.world.now
        self._call(lambda: self.database.open(run, message, self.worker, epoch, sent), opened, lambda: None)

    def _launch(self, run: Run) -> None:
        self.viewers.upstream_calls[run.id] = self.viewers.upstream_calls.get(run.id, 0) + 1
        if self.viewers.upstream_calls[run.id] > 1:
            raise Violation(f"the upstream was asked twice for run {run.id}")
        run.unstored_since = self.world.now
        self.backlog.add(run)
        self.later(TOKEN_SECONDS, self._generate, run)

    def _generate(self, run: Run) -> None:
        if run.has_ended:
            return
        if len(run.text) >= run.length:
            self._end(run, "complete")
            return
        if self.backlog.may_grow(self.clock()):
            if len(run.text) == run.batched_text and not self._is_unconfirmed:
                run.unstored_since = self.world.now
            elif (
                self.world.now - run.unstored_since > protocol.AHEAD_SECONDS + 3.0 and self.frozen_until == 0
            ):
                raise Violation(f"run {run.id} runs ahead of its log")
            run.text += chr(0x4E00 + (run.id * 37 + len(run.text)) % 20000)
            self.viewers.seen.setdefault(run.id, []).append(self.world.now)
            self.viewers.texts[run.id] = run.text
        self.later(TOKEN_SECONDS, self._generate, run)

    def _end(self, run: Run, status: str) -> None:
        if not run.has_ended:
            run.status = status
            if self.announces_early:
                self._announce(run.id, status)
            self._flush(tick=False)

    def _tick(self) -> None:
        self._flush(tick=True)
        self.later(TICK_SECONDS, self._tick)

    def _flush(self, *, tick: bool) -> None:
        if not self.backlog.runs:
            self._settle_journal()
            return
        if self._storing:
            return
        self._storing = True
        self._is_unconfirmed = True
        batch = self.backlog.next_batch(self.clock(), tick=tick)

        def stored(result: tuple[dict[int, str], list[int]]) -> None:
            endings, lost = result
            self._storing = self._is_unconfirmed = False
            self._take_stored(batch.live, lost)
            for run in self.backlog.stored():
                self._announce(run.id, endings[run.id])
            self._settle_journal()
            if self._has_failed:
                self._has_failed = False
                self.later(0.0, self._flush_all)
            for run_id in lost:
                if run_id in self.backlog.runs:
                    self._end(self.backlog.runs[run_id], "interrupted")

        def failed() -> None:
            self._storing = False
            self._has_failed = True
            self._write_journal()

        self._call(lambda: self.database.save(batch, self.worker), stored, failed)
        self.later(JOURNAL_SECONDS, self._write_journal_while, batch)

    def _take_stored(self, going: list[Run], lost: list[int]) -> None:
        for run in going:
            run.unstored_since = self.world.now
            if run.id not in lost:
                run.stored = run.batched_text

    def _write_journal_while(self, batch: Batch[Run]) -> None:
        """The database says nothing."""
        if self._storing and self.backlog.next_batch(self.clock(), tick=False) is batch:
            self._write_journal()
            self.later(JOURNAL_SECONDS, self._write_journal_while, batch)

    def _flush_all(self) -> None:
        self._flush(tick=True)

    def _settle_journal(self) -> None:
        for run in [run for run in self._journal if not self._is_owed(run)]:
            del self._journal[run]
        if not self._journal:
            self.host.journals.pop(self.worker, None)

    def _is_owed(self, run: int) -> bool:
        owned = self.backlog.runs.get(run)
        return owned is not None and (owned.has_ended or len(self._journal[run][0]) > owned.stored)

    def _write_journal(self) -> None:
        if self.writes_journal:
            self._journal |= {run.id: (run.text, run.status) for run in self.backlog.runs.values()}
            self.host.journals[self.worker] = self._journal

    def _announce(self, run: int, status: str) -> None:
        endings = self.viewers.endings.setdefault(run, set())
        endings.add(status)
        if len(endings) > 1 or self.database.runs[run].status != status:
            raise Violation(f"run {run} was said to end {endings}, stored {self.database.runs[run].status}")

    # Faults.

    def crash(self) -> None:
        """kill -9: what it showed in its last moments may be lost, nothing else."""
        self.is_alive = False
        self.host.locked.discard(self.worker)
        for run in self.backlog.runs.values():
            self.viewers.forgive(
                run.id, self._last_moment() - TICK_SECONDS - JOURNAL_SECONDS - LATENCY_SECONDS[1] * 2
            )

    def _last_moment(self) -> float:
        """Return the last moment at which it ran: a frozen process may be killed too."""
        return min(self.world.now, self.frozen_at) if self.frozen_until > self.world.now else self.world.now

    def freeze(self, seconds: float) -> None:
        if self.frozen_until <= self.world.now:
            self.frozen_at = self.world.now
        self.frozen_until = max(self.frozen_until, self.world.now + seconds)
        self.impaired_until = max(self.impaired_until, self.frozen_until)
