"""Timeouts and the deadline of a reply, and the retry policy with its backoff."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

from .errors import ErrorKind, UpstreamError

LAST_FRAMES_SECONDS = 5.0  # for the frames after the finish reason: the usage and [DONE]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds, settings of the site.

    `silence`: without a byte; comments are bytes. `progress`: without a frame that says something: text,
    reasoning, a piece of a tool call. A JSON response comes at once, so only this one applies to it. `total`:
    for the whole reply.
    """

    silence: float = 60.0
    progress: float = 300.0
    total: float = 3_600.0


class Deadline:
    """The deadline of one reply: `async with` raises TimeoutError when the server has missed it.

    `started`: the event loop's time from which it counts, for a retry the time of the first request. Time in
    which nothing is read, because the reader of the reply is slow, does not count but for the whole.

    A timer is not set for each token, which would cost a tenth of what processing it costs. When it fires, it
    looks how far the deadline has moved.
    """

    def __init__(self, timeouts: Timeouts, started: float | None, *, streams: bool) -> None:
        self._silence = timeouts.silence if streams else timeouts.progress
        self._progress = timeouts.progress
        self._loop = asyncio.get_running_loop()
        self._progress_at = self._loop.time() if started is None else started
        self._ends_at = self._progress_at + timeouts.total
        self._read_since: float | None = None  # None while nothing is read
        self._last_frames_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._check()

    async def __aexit__(self, *error: Any) -> None:
        if self._timer:
            self._timer.cancel()
        await self._timeout.__aexit__(*error)

    @property
    def time_left(self) -> float:
        """The seconds that are left for a reply to begin in."""
        if self._timeout.expired():
            return 0.0
        return min(self._progress_at + self._progress, self._ends_at) - self._loop.time()

    def begin_read(self, *, after_progress: bool = False, is_last: bool = False) -> None:
        """Begin to wait for the server.

        `after_progress`: what was read before has said something. `is_last`: after the finish reason, which
        limits the wait for the last frames.
        """
        self._read_since = self._loop.time()
        if after_progress:
            self._progress_at = self._read_since
        if not is_last:
            self._last_frames_at = None
        elif self._last_frames_at is None:
            self._last_frames_at = self._read_since + LAST_FRAMES_SECONDS
            self._check()

    def end_read(self) -> None:
        self._read_since = None

    def _at(self) -> float:
        if self._read_since is None:
            return min(self._loop.time() + min(self._silence, self._progress), self._ends_at)
        at = min(self._read_since + self._silence, self._progress_at + self._progress, self._ends_at)
        return at if self._last_frames_at is None else min(at, self._last_frames_at)

    def _check(self) -> None:
        """Pass the deadline, or set the timer to it."""
        if self._timer:
            self._timer.cancel()
        at = self._at()
        if at > self._loop.time():
            self._timer = self._loop.call_at(at, self._check)
        else:
            self._timeout.reschedule(at)


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
