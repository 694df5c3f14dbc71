"""The load client: many streams at once, in a process of its own."""

import asyncio
import multiprocessing
import signal
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

import uvloop

from .process import Process
from .recorder import Recorder, start_recording
from .targets import Question, Target, Words
from .transcript import Transcript

LONGEST = 90.0  # seconds a job may take
ONE_WORD = Words(1)


@dataclass(frozen=True, slots=True)
class Job:
    """`streams` questions to one target, their starts spread over `over` seconds, read to their ends.

    While they run, `rounds` of one further question to each of `probed`, in turn, `pause` seconds apart.
    `hold`: the streams do not end by themselves; they are kept until the parent says so.
    """

    target: Target
    question: Question
    streams: int
    over: float = 0.0
    probed: tuple[Target, ...] = ()
    probe: Question = ONE_WORD
    rounds: int = 0
    pause: float = 0.05
    hold: bool = False


@dataclass(slots=True)
class Report:
    """The result of a job: the crowd's streams, and those of each probed target."""

    crowd: list[Transcript] = field(default_factory=list)
    probes: list[list[Transcript]] = field(default_factory=list)


async def perform(job: Job, parent: Connection) -> Report:
    """Do the job; say "running" to the parent when every stream of the crowd has had text."""
    starts = (
        start_recording(job.target, job.question, job.over * n / job.streams) for n in range(job.streams)
    )
    crowd = await asyncio.gather(*starts)
    await asyncio.gather(*(recorder.runs for recorder in crowd))
    parent.send("running")
    probes = await _probe(job, crowd)
    if job.hold:
        await asyncio.get_running_loop().run_in_executor(None, parent.poll, LONGEST)
        for recorder in crowd:
            recorder.close()
    for recorders in (crowd, *probes):
        await asyncio.gather(*(recorder.ended for recorder in recorders))
    return Report(_read(crowd), [_read(recorders) for recorders in probes])


def _read(recorders: list[Recorder]) -> list[Transcript]:
    return [recorder.read() for recorder in recorders]


async def _probe(job: Job, crowd: list[Recorder]) -> list[list[Recorder]]:
    """Each when the one before it has its first text, for as long as the whole crowd runs."""
    found: list[list[Recorder]] = [[] for _ in job.probed]
    for _ in range(job.rounds):
        for target, recorders in zip(job.probed, found, strict=True):
            await asyncio.sleep(job.pause)
            if any(recorder.ended.done() for recorder in crowd):
                return found
            recorder = await start_recording(target, job.probe)
            await recorder.runs
            recorders.append(recorder)
    return found


def work(job: Job, parent: Connection) -> None:
    """The whole life of the load process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides about the end
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        parent.send(runner.run(asyncio.wait_for(perform(job, parent), LONGEST)))


class Load:
    """The load process as its parent sees it; ended on leaving the block."""

    def __init__(self, job: Job) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._here, there = spawn.Pipe()
        self._child = spawn.Process(target=work, args=(job, there), daemon=True)
        self._child.start()
        there.close()
        assert self._child.pid
        self.process = Process(self._child.pid)

    def __enter__(self) -> "Load":
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.join()

    def runs(self) -> None:
        """Wait until every stream of the crowd has had text."""
        self._receive()

    def over(self, within: float = 0.0) -> bool:
        """Return True if the report has arrived."""
        return self._here.poll(within)

    def let_go(self) -> None:
        """Close the held streams."""
        self._here.send("let go")

    def report(self) -> Report:
        received = self._receive()
        assert isinstance(received, Report)
        return received

    def _receive(self) -> object:
        """Raises EOFError where the load process failed; it has said why."""
        if not self._here.poll(LONGEST + 10):
            raise TimeoutError("the load client does not answer")
        return self._here.recv()


def run(job: Job) -> Report:
    """A job from its start to its report."""
    with Load(job) as load:
        load.runs()
        return load.report()
