"""Steps: what the calls of tools cost, what a reply with them holds, and how long others wait beside them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.server import Server
from tests.support.web import served

from .cost import RAMP, Cost
from .latency import PAUSE, added
from .load import Job, Load, run
from .process import Process
from .stage import IncompleteError, Stage
from .table import Line
from .targets import OTHER, PEOPLE, SOUGHT, STEPS, Chat, Steps, Target, Tools, Words

STEP_MARK = 2.0  # times what a send costs
MEMORY_MARK = 2.0  # MB, of a reply with eight steps while it runs
WAIT_MARK = 100.0  # ms, p99 of the others' sends
SEARCHES = ("web_search", "search_my_chats")
FOUND = 3  # chats of each person in which a search of them finds something
AT_ONCE = 100
READERS = 10  # replies that read long pages: of their children, two run at a time
PATIENT = {"TOOL_CALL_SECONDS": "90", "TOOL_TOTAL_SECONDS": "900"}  # with so few children
DELAY = 0.02  # seconds between two tokens
TEXT = 200  # tokens before each call of the crowd: a reply calls every four seconds
OVER = TEXT * DELAY  # seconds over which they begin, so that calls are spread
CROWD_STEPS = 4
PROBES = 80
# Over 100 kB.
PAGE = "<title>Tides</title><main>" + "<p>High water is at noon today. </p>" * 4_000 + "</main>"
TEXT_OF_READERS = 20


def stepped(
    stage: Stage, server: Server, process: Process, chat: Cost, sends: int, rounds: int
) -> list[Line]:
    """`chat`: what a send and a token cost without tools, measured in the same run."""
    send = chat.send + chat.token
    for name in PEOPLE:
        for _ in range(FOUND):
            with server.person(name).ask(f"Where is the {SOUGHT}?") as stream:
                stream.to_end()
    lines = []
    for tool in SEARCHES:
        target = Tools(server.url, tool)
        demand_steps(server, Steps(tool))
        with_steps, without = (
            min(_cpu(process, Job(target, Steps(tool, steps), sends, over=RAMP)) for _ in range(rounds))
            for steps in (STEPS, 0)
        )
        step = (with_steps - without) / STEPS
        lines.append(Line(f"{tool}: CPU a step, with its request to the model", step * 1e3, "ms"))
        lines.append(Line(f"{tool}: a step / a send", step / send, "×", STEP_MARK))
    return [*lines, *_beside(stage, Chat(server.url, OTHER))]


def _cpu(process: Process, job: Job) -> float:
    """CPU seconds of one reply."""
    before = process.cpu()
    finished(job)
    return (process.cpu() - before) / job.streams


def finished(job: Job) -> None:
    """Run a job whose every reply must end with its answer. Raises IncompleteError."""
    whole = sum(stream.complete and stream.text.endswith(Steps.ANSWER) for stream in run(job).crowd)
    if whole < job.streams:
        raise IncompleteError(f"{job.streams - whole} of {job.streams} replies with steps were not whole")


def demand_steps(server: Server, question: Steps) -> None:
    """Ask once. Raises IncompleteError unless every call is a step that has succeeded."""
    with server.person("alice").ask(str(question), tools=[question.switch]) as stream:
        stream.to_end()
    states = {step["n"]: step["state"] for step in stream.steps}
    if list(states.values()) != ["done"] * question.steps:
        raise IncompleteError(f"{question.tool} does not work: {stream.steps}")


def _beside(stage: Stage, chat: Target) -> list[Line]:
    """Sends of another person, one after the other, while many replies call a tool every few seconds."""
    crowd = Steps(SEARCHES[0], CROWD_STEPS, TEXT, DELAY)
    job = Job(
        Tools(chat.url, SEARCHES[0]), crowd, AT_ONCE, over=OVER,
        probed=(*[chat] * 4, stage.direct), probe=Words(1, DELAY), rounds=PROBES // 5, pause=PAUSE,
    )  # fmt: skip
    *each, direct = run(job).probes
    ours = [stream for streams in each for stream in streams]
    median, slowest = added(f"first token added, beside {AT_ONCE} replies with steps", ours, direct, None)
    return [median, Line(slowest.what, slowest.measured, slowest.unit, WAIT_MARK)]


def kept_by_steps(stage: Stage) -> list[Line]:
    """The memory of a reply that has read eight pages of 100 kB, while it goes on, beyond that of others."""
    with _reading(stage) as (server, process, address):
        demand_steps(server, Steps("read_page", address=address))
        target = Tools(server.url, "web_search")
        plain, reading = (
            _most(process, Job(target, Steps("read_page", steps, text, DELAY, address), READERS))
            for steps, text in ((0, TEXT_OF_READERS * (STEPS + 1)), (STEPS, TEXT_OF_READERS))
        )
    held = (reading - plain) / READERS
    what = f"memory of a running reply with {STEPS} pages of 100 kB, of {READERS}"
    return [Line(what, held, "MB", MEMORY_MARK)]


@contextmanager
def _reading(stage: Stage) -> Iterator[tuple[Server, Process, str]]:
    with served() as web:
        web.pages["/tides"] = PAGE
        with stage.server(READ_PAGE_ALLOWED_HOSTS=web.host, **PATIENT) as (server, process, _):
            yield server, process, f"{web.url}/tides"


def _most(process: Process, job: Job) -> float:
    """Return by how much the own memory grows while the job runs, in MB."""
    before = most = process.own_memory()
    with Load(job) as load:
        load.runs()
        while not load.over(0.1):
            most = max(most, process.own_memory())
        load.report()
    time.sleep(1.0)
    return most - before
