"""CPU: what a token costs, and a send apart from its tokens."""

from dataclasses import dataclass

from .load import Job
from .process import Process
from .stage import Stage
from .table import Line
from .targets import Target, Words

SEND_MARK, TOKEN_MARK = 5.0, 70.0  # ms, µs
DELAY = 0.02  # seconds between two tokens


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds."""

    send: float
    token: float

    @classmethod
    def of(cls, short: float, long: float, streams: int, tokens: int) -> "Cost":
        """From the CPU of so many streams of one token, and of as many of `tokens` each."""
        token = (long - short) / (streams * (tokens - 1))
        return cls(short / streams - token, token)


def cost(stage: Stage, process: Process, target: Target, streams: int, tokens: int) -> Cost:
    """Measured at `process` while it answers."""

    def cpu(job: Job) -> float:
        before = process.cpu()
        stage.complete(job)
        return process.cpu() - before

    cpu(Job(target, Words(1, DELAY), 10, over=0.2))
    short, long = (cpu(Job(target, Words(n, DELAY), streams, over=streams / 50)) for n in (1, tokens))
    return Cost.of(short, long, streams, tokens)


def lines(chat: Cost, relay: Cost) -> list[Line]:
    return [
        Line("chat: CPU a token", chat.token * 1e6, "µs", TOKEN_MARK),
        Line("relay: CPU a token", relay.token * 1e6, "µs"),
        Line("chat / relay, a token", chat.token / relay.token, "×"),
        Line("chat: CPU a send, apart from its tokens", chat.send * 1e3, "ms", SEND_MARK),
        Line("relay: CPU a request, likewise", relay.send * 1e3, "ms"),
        Line("chat / relay, a send", chat.send / relay.send, "×"),
    ]
