"""Waiting: what the server adds to the time until the first token."""

from collections.abc import Sequence

from .cost import DELAY
from .load import Job
from .stage import Stage
from .table import Line, percentile
from .targets import Target, Words
from .transcript import Transcript

SEND = Words(1, DELAY)
ALONE_MARKS = (15.0, 50.0)  # ms: p50, p99 of sends one after the other while 100 streams run
BURST_MARKS = (150.0, 300.0)  # ms: p50, p99 of 100 sends at once
BURST_OVER = 0.2  # seconds
PAUSE = 0.03  # seconds between two probes


def behind(stage: Stage, chat: Target, streams: int, probes: int) -> list[Line]:
    """Sends one after the other while `streams` replies are written at 50 tokens a second each."""
    tokens = int(probes * 2 * (PAUSE + 0.04) / DELAY) + 50
    job = Job(
        chat, Words(tokens, DELAY), streams, over=streams / 50,
        probed=(chat, stage.direct), probe=SEND, probes=probes, pause=PAUSE,
    )  # fmt: skip
    ours, direct = stage.complete(job).probes
    marks = ALONE_MARKS if streams >= 100 else None
    return added(f"first token added, {streams} streams running", ours, direct, marks)


def burst(stage: Stage, chat: Target, sends: int, rounds: int) -> list[Line]:
    """Many sends at once, a few times over."""
    ours: list[Transcript] = []
    direct: list[Transcript] = []
    for _ in range(rounds):
        ours += stage.complete(Job(chat, SEND, sends, over=BURST_OVER)).crowd
        direct += stage.complete(Job(stage.direct, SEND, sends, over=BURST_OVER)).crowd
    return added(f"first token added, {sends} sends in {BURST_OVER} s", ours, direct, BURST_MARKS)


def added(
    what: str,
    ours: Sequence[Transcript],
    direct: Sequence[Transcript],
    marks: tuple[float, float] | None,
) -> list[Line]:
    """Beyond the median of the same sends to the upstream itself."""
    usual = percentile([stream.first for stream in direct], 0.5)
    waits = [(stream.first - usual) * 1e3 for stream in ours]
    return [
        Line(f"{what}: p{share * 100:.0f} of {len(waits)}", percentile(waits, share), "ms", mark)
        for share, mark in zip((0.5, 0.99), marks or (None, None), strict=True)
    ]
