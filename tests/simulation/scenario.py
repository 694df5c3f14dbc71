"""One schedule: processes, replies and faults made from a seed, and what must hold meanwhile."""

from collections import Counter
from collections.abc import Callable, Sequence

from chat.ownership.protocol import SILENT_SECONDS

from .database import Database, Message, RunRow, Violation
from .process import Host, Process, Viewers
from .world import Link, Outage, World

FAULTS_UNTIL = 70.0
ALL_OVER_AT = 185.0  # replies have ended, and everybody has had time to recover
RESTART_RECOVERS_SECONDS = 5.0
FAULTS = ("outage", "outage", "cut", "trouble", "freeze", "freeze", "clock", "crash", "crash")


class Scenario:
    """Call `run`. Raises Violation, with the seed, as soon as the protocol breaks its word."""

    def __init__(
        self,
        seed: int,
        prepare: Callable[[Process], None] = lambda process: None,
        kinds: Sequence[str] = FAULTS,
    ) -> None:
        """`prepare` is given each process before it starts. `kinds`: the faults to choose from."""
        self.world = World(seed)
        self.random = self.world.random
        self.database = Database(self.world)
        self.viewers = Viewers()
        self.faults: Counter[str] = Counter()
        self._prepare = prepare
        self._kinds = kinds
        self._hosts = [Host() for _ in range(self.random.choice((1, 1, 2, 2, 3)))]
        self._processes: dict[int, Process] = {}
        self._outages: list[Outage] = []  # of the database
        self._runs = 0
        self._messages: list[Message] = []

    def run(self) -> None:
        try:
            self._plan()
            self.world.run(ALL_OVER_AT)
            self._check_end()
        except Violation as violation:
            raise Violation(f"seed {self.world.seed} at {self.world.now:.1f} s: {violation}") from None

    def _plan(self) -> None:
        for number in range(self.random.choice((1, 2, 2, 3))):
            self._start(self._hosts[number % len(self._hosts)])
        for _ in range(self.random.randint(1, 4)):
            self.world.at(self.random.uniform(1.0, 30.0), self._send)
        for _ in range(self.random.randint(1, 5)):
            fault = self.random.choice(self._kinds)
            self.world.at(self.random.uniform(1.0, FAULTS_UNTIL - 30.0), self._inject, fault)
        for moment in range(5, int(ALL_OVER_AT), 5):
            self.world.at(moment, self._check_kept)
        self.world.at(FAULTS_UNTIL + 5.0, self._restart_all)

    # Actions of people.

    def _living(self) -> list[Process]:
        return [process for process in self._processes.values() if process.is_alive]

    def _send(self) -> None:
        """A new conversation's first message."""
        message = Message()
        self._messages.append(message)
        self._start_run(message)

    def _go_on(self) -> None:
        """A reply that was cut is continued, from any process that answers."""
        if cut := [m for m in self._messages if m.runs and not self._last_run(m).is_live]:
            self._start_run(self.random.choice(cut))

    def _last_run(self, message: Message) -> RunRow:
        return self.database.runs[message.runs[-1]]

    def _start_run(self, message: Message) -> None:
        self._runs += 1
        if living := self._living():
            process = self.random.choice(living)
            process.later(0.0, process.send, self._runs, message, self._length())

    def _length(self) -> int:
        """Return a reply's length in characters. Some exceed the text that a run may have unstored."""
        return self.random.choice((*[self.random.randint(3, 80)] * 3, 120))

    # Faults.

    def _inject(self, fault: str) -> None:
        self.faults[fault] += 1
        getattr(self, f"_{fault}")()
        if self.random.random() < 0.3:
            self.world.after(self.random.uniform(0.0, 30.0), self._go_on)

    def _victim(self) -> Process | None:
        living = self._living()
        return self.random.choice(living) if living else None

    def _outage(self) -> None:
        now, seconds = self.world.now, self.random.choice((5.0, 12.0, 20.0, self.random.uniform(5.0, 68.0)))
        ends = min(now + seconds, FAULTS_UNTIL)
        self._outages.append(Outage(now, ends, hanging=self.random.choice((0.0, 0.5, 1.0))))

    def _cut(self) -> None:
        if process := self._victim():
            now = self.world.now
            ends = min(now + self.random.uniform(3.0, 60.0), FAULTS_UNTIL)
            process.outages.append(Outage(now, ends, hanging=0.5))
            process.impaired_until = max(process.impaired_until, ends)

    def _trouble(self) -> None:
        if process := self._victim():
            process.link.trouble = self.random.uniform(0.1, 0.6)
            process.impaired_until = FAULTS_UNTIL + 25.0  # what is late may come until then
            process.had_trouble = True
            self.world.at(FAULTS_UNTIL, setattr, process.link, "trouble", 0.0)

    def _freeze(self) -> None:
        if process := self._victim():
            process.freeze(min(self.random.uniform(3.0, 40.0), FAULTS_UNTIL - self.world.now))

    def _clock(self) -> None:
        if process := self._victim():
            process.clock_jump += self.random.choice((-3600.0, 3600.0))

    def _crash(self) -> None:
        if process := self._victim():
            process.crash()
            self.world.after(self.random.uniform(0.5, 25.0), self._restart, process)

    def _restart(self, dead: Process) -> None:
        process = self._start(dead.host)
        self.world.after(RESTART_RECOVERS_SECONDS, self._check_restart, process, dead)

    def _restart_all(self) -> None:
        for process in list(self._processes.values()):
            if not process.is_alive and not any(other.host is process.host for other in self._living()):
                self._start(process.host)

    def _start(self, host: Host) -> Process:
        outages = list[Outage]()
        link = Link(self.world, self._outages, outages)
        process = Process(self.world, self.database, link, host, self.viewers, len(self._processes) + 1)
        process.outages = outages
        process.on_fence = lambda dead: self._check_fence(process, self._processes[dead])
        process.on_orphans = self._check_orphans
        self._processes[process.worker] = process
        self._prepare(process)
        process.start()
        return process

    # Invariants.

    def _check_fence(self, by: Process, dead: Process) -> None:
        if not dead.is_alive:
            return
        now = self.world.now
        if by.host is dead.host:
            raise Violation(f"worker {dead.worker} was fenced although its lock is held")
        if now - dead.impaired_until > SILENT_SECONDS + 1.0:
            raise Violation(f"worker {dead.worker} was fenced although nothing is wrong with it")
        if (silence := now - self.database.last_heartbeat[dead.worker]) < SILENT_SECONDS - 0.5:
            raise Violation(f"worker {dead.worker} was fenced {silence:.1f} s after its heartbeat")

    def _check_orphans(self, runs: list[int]) -> None:
        for row in map(self.database.runs.__getitem__, runs):
            owner = self._processes[row.owner]
            fenced = self.database.fenced_at.get((row.owner, row.epoch), 0.0)
            if row.sent_at > fenced and not owner.had_trouble:
                raise Violation(f"run {row.id} began under an epoch that was over")
        self._check_kept()

    def _check_restart(self, process: Process, dead: Process) -> None:
        """Check that a restart waits for no silent period if the lock says that the process is dead."""
        now = self.world.now
        began = now - RESTART_RECOVERS_SECONDS
        disturbed = process.impaired_until > began or not process.is_alive
        away = any(each.begins < now and each.ends > began for each in self._outages)
        left = [
            run.id
            for run in self.database.live.values()
            if run.worker == dead.worker and run.inserted_at < began
        ]
        if left and not disturbed and not away:
            raise Violation(f"runs {left} outlive the restart of their process")

    def _check_kept(self) -> None:
        """Every character that a viewer saw is stored, or is with somebody who will store it."""
        for run, text in self.viewers.texts.items():
            if not (self.database.holds(run, text) or self._is_held(run, text)):
                raise Violation(f"run {run}: {len(text)} characters were seen, {self._stored(run)} are kept")

    def _is_held(self, run: int, text: str) -> bool:
        owned = (process.backlog.runs.get(run) for process in self._living())
        if any(each is not None and each.text.startswith(text) for each in owned):
            return True
        return any(
            entries[run][0].startswith(text)
            for host in self._hosts
            for entries in host.journals.values()
            if run in entries
        )

    def _stored(self, run: int) -> int:
        return len(self.database.runs[run].stored())

    def _check_end(self) -> None:
        if self.database.live:
            raise Violation(f"runs {list(self.database.live)} stay live")
        for process in self._living():
            if process.worker in process.host.journals:
                raise Violation(f"worker {process.worker} keeps a journal of what is stored")
        for run, text in self.viewers.texts.items():
            if not self.database.holds(run, text):
                raise Violation(
                    f"run {run}: {len(text)} characters were seen, {self._stored(run)} are stored"
                )
