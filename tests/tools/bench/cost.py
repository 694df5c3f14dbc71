"""CPU: what a token costs, and a send apart from its tokens."""

import time
from dataclasses import dataclass
from statistics import median

from .load import Job, Load
from .process import Process, Workers
from .stage import Stage
from .table import Line
from .targets import Target, Words

SEND_MARK, TOKEN_MARK, API_TOKEN_MARK = 10.0, 1.6, 1.3  # times what the relay costs
DELAY = 0.02  # seconds between two tokens
RAMP = 1.0  # seconds over which the streams begin
MARGIN = 0.3  # seconds after the last one's first token, and before the first one's last


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds."""

    send: float
    token: float


def cost(
    stage: Stage, process: Process | Workers, target: Target, streams: int, tokens: int, rounds: int
) -> Cost:
    """Measured at `process` while it answers; the median of so many rounds.

    A token: of those that arrive while all streams run, and nothing begins or ends. A send: all of a reply
    of one token, its beginning and its end, without what that token costs.
    """
    stage.complete(Job(target, Words(1), 10, over=0.2))
    token = median(_token(stage, process, target, streams, tokens) for _ in range(rounds))
    send = median(_send(stage, process, target, streams) for _ in range(rounds))
    return Cost(send - token, token)


def _send(stage: Stage, process: Process | Workers, target: Target, sends: int) -> float:
    before = process.cpu()
    stage.complete(Job(target, Words(1, DELAY), sends, over=RAMP))
    return (process.cpu() - before) / sends


def _token(stage: Stage, process: Process | Workers, target: Target, streams: int, tokens: int) -> float:
    job = Job(target, Words(tokens, DELAY), streams, over=RAMP)
    with Load(job) as load:
        load.runs()
        time.sleep(MARGIN)
        before, began = process.cpu(), time.monotonic()
        time.sleep(tokens * DELAY - RAMP - 2 * MARGIN)
        spent, ended = process.cpu() - before, time.monotonic()
        report = load.report()
    stage.demand_whole(job, report)
    arrived = sum(stream.part(began, ended) for stream in report.crowd) * tokens
    return spent / arrived


def lines(chat: Cost, api: Cost, relay: Cost) -> list[Line]:
    return [
        Line("chat: CPU a token", chat.token * 1e6, "µs"),
        Line("API: CPU a token", api.token * 1e6, "µs"),
        Line("relay: CPU a token", relay.token * 1e6, "µs"),
        Line("chat / relay, a token", chat.token / relay.token, "×", TOKEN_MARK),
        Line("API / relay, a token", api.token / relay.token, "×", API_TOKEN_MARK),
        Line("chat: CPU a send, apart from its tokens", chat.send * 1e3, "ms"),
        Line("API: CPU a call, likewise", api.send * 1e3, "ms"),
        Line("relay: CPU a request, likewise", relay.send * 1e3, "ms"),
        Line("chat / relay, a send", chat.send / relay.send, "×", SEND_MARK),
    ]
