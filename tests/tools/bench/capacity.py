"""Room: many slow streams in one process, and what a stream and a viewer take."""

import time

from .load import Job, Load, Report
from .process import Process
from .stage import Stage
from .table import Line, percentile
from .targets import Viewer, Words

DELAY = 0.1  # seconds between two tokens
STARTS = 100  # a second
RAMP = 2.5  # times as long as the starts should take: a busy machine needs longer
THREADS_MARK = 8  # those of pools that were not full yet; no stream has its own
GAP_MARK, MEMORY_MARK, VIEWER_MARK = 300.0, 250.0, 40.0  # ms, MB, kB
LOOK = 0.25  # seconds between two readings of the memory
SILENCE = "fake: hang after=1"  # a run that says one word, and nothing for a minute
WARM_UP = 50  # viewers
IDLING = 2.0  # seconds for which viewers are watched doing nothing


def held(stage: Stage, streams: int, seconds: float) -> list[Line]:
    """All streams at 10 tokens a second, for `seconds` at least all at the same time."""
    tokens = round((RAMP * streams / STARTS + seconds) / DELAY)
    with stage.server() as (_, process, chat):
        job = Job(chat, Words(tokens, DELAY), streams, over=streams / STARTS)
        before, threads, files = process.memory(), process.threads(), process.files()
        with Load(job) as load:
            load.runs()
            more_threads, more_files = process.threads() - threads, process.files() - files
            actors = {"server": process, "fake": stage.fake, "load client": load.process}
            busy = busyness(actors, seconds)
            peak = process.memory()
            while not load.over(LOOK):
                peak = max(peak, process.memory())
            report = load.report()
    gaps = plateau_gaps(report)
    return [
        Line(f"{streams:,} streams × {1 / DELAY:.0f} tokens/s: errors", stage.errors(job, report), "", 0),
        Line("  tokens a second held", sum(stream.rate for stream in report.crowd), ""),
        Line("  gap between two frames, p50", percentile(gaps, 0.5) * 1e3, "ms"),
        Line("  gap between two frames, p99", percentile(gaps, 0.99) * 1e3, "ms", GAP_MARK),
        Line("  memory", peak, "MB", MEMORY_MARK),
        Line("  memory a generating stream", (peak - before) * 1e3 / streams, "kB"),
        Line("  threads more than idle", more_threads, "", THREADS_MARK),
        Line("  file descriptors a stream", more_files / streams, ""),
        *busy,
    ]


def busyness(actors: dict[str, Process], seconds: float) -> list[Line]:
    """Return the shares of the cores over the next `seconds`."""
    server, began = actors["server"], time.monotonic()
    waited = server.waited()
    spent = {name: actor.cpu() for name, actor in actors.items()}
    time.sleep(seconds)
    lasted = time.monotonic() - began
    lines = [
        Line(f"  cores busy: {name}", (actor.cpu() - spent[name]) / lasted, "")
        for name, actor in actors.items()
    ]
    starved = (server.waited() - waited) / lasted * 100
    return [*lines, Line("  time in which the server's loop had no core", starved, "%")]


def plateau_gaps(report: Report) -> list[float]:
    """Seconds between two pieces of text, from the last stream's first to the first stream's last."""
    spoke = [stream.arrivals for stream in report.crowd if stream.arrivals]
    since, until = max(times[0] for times in spoke), min(times[-1] for times in spoke)
    return [gap for stream in report.crowd for gap in stream.gaps(since, until)]


def watched(stage: Stage, viewers: int) -> list[Line]:
    """Viewers of one run that says a word and then nothing."""
    with stage.server() as (server, process, _):
        with server.person("alice").ask(SILENCE) as stream:
            run = stream.run
        _watch(Viewer(server.url, run), WARM_UP, process)  # what the first ones bring stays
        return _watch(Viewer(server.url, run), viewers, process)


def _watch(target: Viewer, viewers: int, process: Process) -> list[Line]:
    before, threads, files = process.memory(), process.threads(), process.files()
    with Load(Job(target, Words(1), viewers, over=viewers / 200, hold=True)) as load:
        load.runs()
        spent = process.cpu()
        time.sleep(IDLING)
        spent = process.cpu() - spent
        lines = [
            Line(
                f"memory an idle viewer, of {viewers}",
                (process.memory() - before) * 1e3 / viewers,
                "kB",
                VIEWER_MARK,
            ),
            Line("  threads more", process.threads() - threads, "", THREADS_MARK),
            Line("  file descriptors a viewer", (process.files() - files) / viewers, ""),
            Line("  CPU of them all", spent / IDLING * 100, "% of a core"),
        ]
        load.let_go()
        failed = sum(not watcher.arrivals for watcher in load.report().crowd)
    return [*lines, Line("  errors", failed, "", 0)]
