"""Makes the faults of a schedule happen, and undoes each when its time is over."""

import asyncio
import signal
import threading
import time
from collections.abc import Sequence

from .faults import Fault, How, Kind, Reach
from .front import Front
from .interruption import Ending, Trouble
from .links import Link
from .processes import WebProcess
from .stage import PROCESSES_ON_A_HOST, Stage


class Injector:
    """The faults of one round: who was ended, and what happened to some of the processes only."""

    def __init__(self, stage: Stage, front: Front) -> None:
        self._stage = stage
        self._front = front
        self.endings: list[Ending] = []
        self.troubles: list[Trouble] = []
        self.notes: list[tuple[float, str]] = []

    async def run(self, faults: Sequence[Fault], began: float) -> None:
        """Run until the last fault is over and every process is back."""
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                group.create_task(self._happen(fault, began))

    async def _happen(self, fault: Fault, began: float) -> None:
        await asyncio.sleep(max(0.0, began + fault.at - time.monotonic()))
        self._note(f"begins: {fault}")
        begin = time.time()
        await getattr(self, f"_{fault.kind}")(fault)
        if fault.process is not None:
            self.troubles.append(Trouble(fault.kind, self._met(fault), begin, time.time()))
        self._note(f"over:   {fault}")

    def _note(self, what: str) -> None:
        self.notes.append((time.time(), what))

    def _processes(self, fault: Fault) -> list[WebProcess]:
        everybody = self._stage.processes
        return everybody if fault.process is None else [everybody[fault.process]]

    def _met(self, fault: Fault) -> frozenset[int]:
        """Return the numbers of the processes that a fault of some happens to."""
        assert fault.process is not None
        if fault.kind != Kind.HOST:
            return frozenset({fault.process})
        first = fault.process * PROCESSES_ON_A_HOST
        return frozenset(range(first, first + PROCESSES_ON_A_HOST))

    async def _kill(self, fault: Fault) -> None:
        await self._end(fault, signal.SIGKILL)

    async def _term(self, fault: Fault) -> None:
        await self._end(fault, signal.SIGTERM)

    async def _end(self, fault: Fault, how: signal.Signals) -> None:
        """The outage begins when the process has ended."""
        (process,) = self._processes(fault)
        ending = Ending(fault.kind, process.number, process.pids[-1], time.time())
        self.endings.append(ending)
        process.signal(how)
        code = await process.ended()
        ending.gone = time.time()
        self._note(f"process {process.number} ended with {code}")
        await asyncio.sleep(fault.seconds)
        process.launch()
        if not await process.ready():
            self._note(f"process {process.number} does not come back")

    async def _freeze(self, fault: Fault) -> None:
        (process,) = self._processes(fault)
        process.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            process.signal(signal.SIGCONT)

    async def _database(self, fault: Fault) -> None:
        links = self._stage.database_links
        await self._down(links if fault.process is None else [links[fault.process]], fault)

    async def _redis(self, fault: Fault) -> None:
        links = self._stage.redis_links
        await self._down(links if fault.process is None else [links[fault.process]], fault)

    async def _down(self, links: Sequence[Link], fault: Fault) -> None:
        for link in links:
            link.take_down(fault.how)
        await asyncio.sleep(fault.seconds)
        for link in links:
            await link.bring_up()

    async def _slow(self, fault: Fault) -> None:
        """`how` is the delay in milliseconds, of each way of a link."""
        links: list[Link] = [self._front]
        if self._stage.database_links:
            links = (
                self._stage.database_links[fault.process : fault.process + 1]
                if fault.process is not None
                else self._stage.database_links
            )
        for link in links:
            link.slow_down(int(fault.how) / 1000)
        await asyncio.sleep(fault.seconds)
        for link in links:
            link.slow_down(0)

    async def _lock(self, fault: Fault) -> None:
        release = threading.Event()
        holding = asyncio.ensure_future(asyncio.to_thread(self._stage.storage.hold_lock, release))
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            release.set()
            await holding

    async def _disk(self, fault: Fault) -> None:
        disk = self._stage.storage.disk
        assert disk
        await asyncio.to_thread(disk.fill)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            disk.empty()

    async def _clock(self, fault: Fault) -> None:
        for process in self._processes(fault):
            self._stage.clocks[process.number].jump(int(fault.how))
        await asyncio.sleep(fault.seconds)
        for process in self._processes(fault):
            self._stage.clocks[process.number].jump(0)

    async def _host(self, fault: Fault) -> None:
        hosts = self._stage.hosts
        assert hosts
        assert fault.process is not None
        models = self._stage.model_links_of(fault.process) if fault.how == Reach.NOTHING else []
        for link in models:
            link.take_down(How.SILENT)
        await asyncio.to_thread(hosts.cut_off, fault.process)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            await asyncio.to_thread(hosts.reconnect, fault.process)
            for link in models:
                await link.bring_up()

    async def _cut(self, fault: Fault) -> None:
        self._front.reset()
