"""Timeouts and the deadline of a reply, and the retry policy with its backoff."""

import asyncio
import random
from dataclasses import dataclass, field

from .errors import ErrorKind, UpstreamError

LAST_FRAMES_SECONDS = 5.0  # for the frames after the finish reason: the usage and [DONE]
DEADLINE_SLACK = 0.02  # share of a timeout by which it may fire early, so that it is rescheduled less often


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds. Only tokens restart them: bytes without a token are no sign of progress."""

    first_token: float = 120.0
    unstreamed: float = 250.0  # for a JSON response; Cloudflare's own timeout is 240
    between_tokens: float = 60.0
    total: float = 600.0


class Deadline:
    """The deadline of one reply, which each delta moves.

    `started`: the event loop's time from which it counts, for a retry the time of the first request. There is
    one timer for the whole reply: one for each delta would cost a tenth of what processing a token costs.
    """

    def __init__(self, timeouts: Timeouts, started: float | None, *, streams: bool) -> None:
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self._started_at = self._last_delta_at = self._loop.time() if started is None else started
        self._seconds = timeouts.first_token if streams else timeouts.unstreamed  # until the next delta
        self._reschedule_at = 0.0  # event loop time from which the next delta reschedules the timer

    @property
    def time_left(self) -> float:
        """The seconds until the deadline."""
        return self._at() - self._loop.time()

    def timer(self) -> asyncio.Timeout:
        """Return the context manager that raises TimeoutError at the deadline."""
        self._timer = asyncio.timeout_at(self._at())
        return self._timer

    def on_delta(self, *, is_last: bool) -> None:
        """Move the deadline, but not for each token: that would cost a twentieth of what processing it costs.

        `is_last`: the finish reason is known, so only the last frames follow.
        """
        self._last_delta_at = self._loop.time()
        if self._last_delta_at < self._reschedule_at and not is_last:
            return
        seconds = self._timeouts.between_tokens
        self._seconds = min(seconds, LAST_FRAMES_SECONDS) if is_last else seconds
        deadline = self._at()
        self._timer.reschedule(deadline)
        self._reschedule_at = self._last_delta_at + DEADLINE_SLACK * (deadline - self._last_delta_at)

    def on_finish_reason(self) -> None:
        """Limit the wait for the last frames, which is shorter than the wait for a token."""
        last = self._loop.time() + LAST_FRAMES_SECONDS
        if (deadline := self._timer.when()) is not None and last < deadline:
            self._timer.reschedule(last)

    def _at(self) -> float:
        return min(self._last_delta_at + self._seconds, self._started_at + self._timeouts.total)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The rule for retries: at most `max_retries`, with exponential backoff and jitter.

    `base_delay` and `max_total_delay` in seconds.
    """

    max_retries: int = 2
    base_delay: float = 2.0
    max_total_delay: float = 15.0


@dataclass(slots=True)
class Backoff:
    """The delays before the retries of one request.

    `handled_by_gateway`: the AI Gateway retries error responses of the provider, so the router does not.
    """

    policy: RetryPolicy
    handled_by_gateway: bool = False
    _retries: int = field(default=0, init=False)
    _total_delay: float = field(default=0.0, init=False)

    def delay_after(self, error: UpstreamError, *, streamed: bool, time_left: float) -> float | None:
        """Return the seconds to wait before the next retry, None for no retry.

        `time_left`: seconds until the deadline of the first token.
        """
        if error.permanent or self._retries >= self.policy.max_retries:
            return None
        if self.handled_by_gateway and error.status is not None:
            return None
        if not streamed and error.kind is ErrorKind.TIMEOUT:
            return None  # the server has already had the longest time it is given
        delay = error.retry_after
        if delay is None:
            delay = random.uniform(0.25, 1) * self.policy.base_delay * 2**self._retries
        if self._total_delay + delay > self.policy.max_total_delay or delay > time_left:
            return None
        self._retries += 1
        self._total_delay += delay
        return delay
