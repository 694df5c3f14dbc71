"""Waiting: what the server adds to the time until the first token."""

from collections.abc import Sequence

from .cost import DELAY, RAMP
from .load import Job
from .stage import Stage
from .table import Line, percentile
from .targets import Target, Words
from .transcript import Transcript

SEND = Words(1, DELAY)
REPLY = Words(50, DELAY)  # a second of writing
ALONE_MARKS = (20.0, 60.0)  # ms: p50, p99 of sends one after the other while 100 streams run
BURST_MARKS = (200.0, 400.0)  # ms: p50, p99 of 100 sends at once
BURST_OVER = 0.2  # seconds
PAUSE = 0.02  # seconds between two probes
PROBE = 0.07  # seconds from one to the next, about
OURS = 4  # probes of the server for one of the fake


def behind(stage: Stage, chat: Target, streams: int, probes: int) -> list[Line]:
    """Sends one after the other while `streams` replies are written at 50 tokens a second each."""
    tokens = round((probes * PROBE + RAMP) / DELAY)
    probed = (*[chat] * OURS, stage.direct)
    job = Job(
        chat, Words(tokens, DELAY), streams, over=RAMP,
        probed=probed, probe=SEND, rounds=probes // len(probed), pause=PAUSE,
    )  # fmt: skip
    *each, direct = stage.complete(job).probes
    ours = [stream for streams in each for stream in streams]
    marks = ALONE_MARKS if streams >= 100 else None
    return added(f"first token added, {streams} streams running", ours, direct, marks)


def burst(stage: Stage, chat: Target, sends: int, rounds: int) -> list[Line]:
    """Many sends at once, a few times over."""
    ours: list[Transcript] = []
    direct: list[Transcript] = []
    for _ in range(rounds):
        ours += stage.complete(Job(chat, REPLY, sends, over=BURST_OVER)).crowd
        direct += stage.complete(Job(stage.direct, REPLY, sends, over=BURST_OVER)).crowd
    return added(f"first token added, {sends} sends in {BURST_OVER} s", ours, direct, BURST_MARKS)


def added(
    what: str, ours: Sequence[Transcript], direct: Sequence[Transcript], marks: tuple[float, float] | None
) -> list[Line]:
    """Beyond the median of the same sends to the upstream itself."""
    usual = percentile([stream.first for stream in direct], 0.5)
    waits = [(stream.first - usual) * 1e3 for stream in ours]
    return [
        Line(f"{what}: p{share * 100:.0f} of {len(waits)}", percentile(waits, share), "ms", mark)
        for share, mark in zip((0.5, 0.99), marks or (None, None), strict=True)
    ]
