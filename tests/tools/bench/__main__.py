"""`python -m tests.tools.bench`: every figure in one run of some minutes; `--quick` for rough ones in
less."""

import argparse
import os
import platform
import signal
import sys
import time
import timeit
from dataclasses import dataclass, replace

from . import administration, capacity, cost, hold, latency, memory, several, site, steps, targets
from .stage import IncompleteError, Stage
from .table import Line, percentile, table

COLD_MARK, IDLE_MARK = 2.0, 100.0  # seconds, MB


@dataclass(frozen=True, slots=True)
class Size:
    """The number of requests of a bench."""

    streams: int = 100
    tokens: int = 200
    probes: int = 125
    rounds: int = 3
    sends: int = 40  # replies with steps
    ratio_rounds: int = 5
    held: int = 1000
    plateau: float = 6.0  # seconds
    viewers: int = 500
    replies: int = 10_000
    workers: int = 2
    divisor: int = 10  # of the million messages whose administration is measured


QUICK = Size(
    probes=40, rounds=1, ratio_rounds=1, held=300, plateau=3.0, viewers=200, replies=1_000, divisor=100
)


def measure(size: Size) -> list[Line]:
    """Measure everything, and print each result at once."""
    found: list[Line] = []

    def show(title: str, lines: list[Line]) -> None:
        print(f"\n{table(title, lines)}", flush=True)
        found.extend(lines)

    with Stage() as stage:
        with stage.server() as (server, process, chat):
            ours = cost.cost(stage, process, chat, size.streams, size.tokens, size.rounds)
            api = cost.cost(stage, process, targets.api(chat.url), size.streams, size.tokens, size.rounds)
            relay = cost.cost(stage, stage.relay, stage.relayed, size.streams, size.tokens, size.rounds)
            show(
                f"CPU: {size.streams} streams × {size.tokens} tokens, 50 a second",
                cost.lines(ours, api, relay),
            )
            waits = [line for n in (1, 20, 100) for line in latency.behind(stage, chat, n, size.probes)]
            waits += latency.burst(stage, chat, 100, size.rounds)
            show(
                "Waiting: from the send to the first text, beyond the median of the fake asked directly",
                waits,
            )
            show("Steps of replies", steps.stepped(stage, server, process, ours, size.sends, size.rounds))
            one = several.Measured(process, chat, size.streams)
            show(f"Several processes: {size.workers} workers", several.lines(stage, one, size))
        show("Many at once", capacity.held(stage, size.held, size.plateau))
        show("Watching", capacity.watched(stage, size.viewers))
        show("Memory", [*memory.kept(stage, size.replies), *steps.kept_by_steps(stage)])
        made = site.Size().divided(size.divisor)
        show(f"Administration of {made.messages:,} messages", administration.administered(stage, made))
        show("Rendering", list(hold.holds()))
        show(f"Starting: medians of {len(stage.idle)} starts", starts(stage))
    return found


def header() -> str:
    """Return what the figures depend on.

    Debian's Python formats and splits a short string in 110 ns on one machine, pyenv's, which is built
    without profile-guided optimization, in 550 ns. A token of the chat cost the same with both there.
    """
    setup = "number, text = 12, 'text'"
    strings = min(timeit.repeat('f"{number}:{text}".split(":")', setup, number=10_000)) / 10_000
    return (
        f"Python {platform.python_version()}, a string formatted and split in {strings * 1e9:.0f} ns, "
        f"{os.cpu_count()} cores, which the server, the fake upstream and the load client share.\n"
        f"Load average before the start: {os.getloadavg()[0]:.2f}. "
        "What else runs here makes the figures worse."
    )


def starts(stage: Stage) -> list[Line]:
    return [
        Line("cold start, to the first 200 of /readyz", percentile(stage.cold_starts, 0.5), "s", COLD_MARK),
        Line("idle memory", percentile(stage.idle, 0.5), "MB", IDLE_MARK),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter streams")
    parser.add_argument("--workers", type=int, default=2, help="processes of the section “Several processes”")
    parser.add_argument(
        "--million", action="store_true", help="a million messages in the section “Administration”"
    )
    options = parser.parse_args()
    if options.workers < 2:
        parser.error("--workers is 2 or more")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(header())
    began = time.monotonic()
    try:
        size = replace(QUICK if options.quick else Size(), workers=options.workers)
        if options.million:
            size = replace(size, divisor=1)
        found = measure(size)
    except KeyboardInterrupt:
        return 130
    except IncompleteError as error:
        print(error, file=sys.stderr)
        return 1
    missed, marks = sum(line.missed for line in found), sum(line.mark is not None for line in found)
    print(f"\n{missed} of {marks} marks missed, in {time.monotonic() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
