"""How often this site's account may be asked in a minute: all processes together, and each model.

Cloudflare takes 300 requests a minute of an account, and 20 for each model that needs Workers Paid. What is
asked beyond that would only be refused, so it waits here. With Redis the processes count together. Without,
each keeps to its share of the limit, by the number of those alive, which the heartbeat brings: no send costs
a query. https://developers.cloudflare.com/workers-ai/platform/limits/
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from chat.upstream.catalogue import LlmModel

from .circuit_breaker import Clock
from .wait_queue import PositionCallback, WaitQueue

if TYPE_CHECKING:
    from .redis_rate_limiter import RedisRateLimiter

WINDOW_SECONDS = 60.0  # seconds
LEARNED_LIMIT_SECONDS = (
    600.0  # seconds that a limit holds which Cloudflare's refusal showed to be lower than documented
)
RATE_LIMITED_THRESHOLD = (
    3  # questions in a row, after which a limit is believed to be reached: one may be meant for others
)
# Of the configured limit: no less is ever learned. Refusals also come from what others ask of the account,
# and say nothing of this site's share then; one that is too many costs a few milliseconds.
FLOOR_SHARE = 0.1
HOLD_SECONDS = 10.0  # that a model is left alone which refused so often and did not say for how long
TIMER_TOLERANCE_SECONDS = 0.001  # a timer may fire that much before its time
RECHECK_SECONDS = 1.0  # seconds between two looks of whoever is next: a limit may have changed meanwhile
ACCOUNT_KEY = ""  # where a model's id stands, the limit of all models together


class SlidingWindow:
    """What one process asked in the last `window` seconds."""

    def __init__(self, window: float, clock: Clock) -> None:
        self._window = window
        self._clock = clock
        self._times: deque[float] = deque()
        self._held = self._learned_until = 0.0
        self._learned = self._refusals = 0

    @property
    def has_learned(self) -> bool:
        return self._clock() < self._learned_until

    def limit(self, most: int) -> int:
        """`most`, or what was learned."""
        return min(most, self._learned) if self.has_learned else most

    def retry_after(self, most: int) -> float:
        """Seconds until one more may be asked; 0.0 where it may be now."""
        now = self._clock()
        while self._times and self._times[0] <= now - self._window:
            self._times.popleft()
        over = len(self._times) - self.limit(most)
        free = self._times[over] + self._window if over >= 0 else 0.0
        wait = max(free, self._held) - now
        return wait if wait > TIMER_TOLERANCE_SECONDS else 0.0

    def record(self) -> None:
        self._times.append(self._clock())

    def on_success(self) -> None:
        """What was learned is raised by each call that is taken, so that it doubles in a minute."""
        self._refusals = 0
        self._learned += 1

    def on_rate_limited(self, seconds: float | None, most: int) -> None:
        """Cloudflare refused a question although the limit, `most`, was kept.

        It is left alone for as long as Cloudflare says. After several such questions in a row the limit is
        what it had taken before.
        """
        now = self._clock()
        self._refusals += 1
        has_learned = self._refusals >= RATE_LIMITED_THRESHOLD
        if seconds is None and has_learned:
            seconds = HOLD_SECONDS
        self._held = max(self._held, now + min(seconds or 0.0, self._window))
        if has_learned:
            self._learned = max(1, ceil(most * FLOOR_SHARE), len(self._times) - self._refusals)
            self._learned_until = now + LEARNED_LIMIT_SECONDS


class RateLimiter:
    """`account` and `paid` are requests a `window`: of all models together, of each one of the paid plan.

    `processes` returns how many processes are alive, this one included.
    """

    def __init__(
        self,
        account: int,
        paid: int,
        *,
        processes: Callable[[], int] = lambda: 1,
        shared: "RedisRateLimiter | None" = None,
        window: float = WINDOW_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._account = account
        self._paid = paid
        self._processes = processes
        self._shared = shared
        self._window = window
        self._clock = clock
        self._windows: dict[str, SlidingWindow] = {}
        self._queues: dict[str, WaitQueue] = {}
        self._wait = 0.0  # seconds, as whoever is next in a line was told last

    @property
    def has_waiters(self) -> bool:
        """Somebody waits."""
        return any(self._queues.values())

    async def acquire(self, model: LlmModel, tell: PositionCallback) -> None:
        """Wait until this model may be asked once more."""
        line = self._queue(model)
        if line or await self._try_take(model):
            await line.wait(partial(self._turn, model), tell)

    async def try_acquire(self, model: LlmModel) -> bool:
        """Whether it may be asked once more now; nobody waits."""
        return not self.has_waiters and not await self._try_take(model)

    async def acquire_or_delay(self, model: LlmModel) -> float:
        """Take a place where one is free: 0.0, else the seconds until there may be one. Nobody waits."""
        if self._queue(model):
            return max(self._wait, RECHECK_SECONDS)
        return await self._try_take(model)

    def on_rate_limited(self, model: LlmModel, seconds: float | None) -> None:
        """Cloudflare said that it was too much for a minute, and perhaps when to come back.

        To be told once for each question, however often that was asked again.
        """
        most = self._configured_limit(model)
        if self._shared is None:
            most = max(1, most // self._processes())
        self._sliding_window(model.id).on_rate_limited(seconds, most)

    def on_success(self, model: LlmModel) -> None:
        """It was not too much."""
        self._sliding_window(model.id).on_success()

    async def _turn(self, model: LlmModel) -> None:
        while wait := await self._try_take(model):
            self._wait = wait
            await asyncio.sleep(min(wait, RECHECK_SECONDS))

    async def _try_take(self, model: LlmModel) -> float:
        """Take a place, or say how many seconds there will be none."""
        minutes = {name: self._sliding_window(name) for name in (ACCOUNT_KEY, model.id)}
        limits = {ACCOUNT_KEY: self._account, model.id: self._configured_limit(model)}
        if self._shared is not None:
            # What is learned is this process's own: the others see the same refusals.
            if learned := minutes[model.id].retry_after(self._account):
                return learned
            together = await self._shared.acquire(limits, self._window)
            if together is not None:
                return together or self._count(minutes.values())
        shares = {name: max(1, most // self._processes()) for name, most in limits.items()}
        wait = max(minute.retry_after(shares[name]) for name, minute in minutes.items())
        return wait or self._count(minutes.values())

    def _count(self, minutes: Iterable[SlidingWindow]) -> float:
        for minute in minutes:
            minute.record()
        return 0.0

    def _configured_limit(self, model: LlmModel) -> int:
        """The configured limit of one model."""
        return self._paid if model.paid else self._account

    def _queue(self, model: LlmModel) -> WaitQueue:
        return self._queues.setdefault(model.id if self._is_slow(model) else ACCOUNT_KEY, WaitQueue())

    def _is_slow(self, model: LlmModel) -> bool:
        """It has a limit of its own, and those who wait for it hold up nobody else."""
        return model.paid or self._sliding_window(model.id).limit(self._account) < self._account

    def _sliding_window(self, name: str) -> SlidingWindow:
        if name not in self._windows:
            self._windows[name] = SlidingWindow(self._window, self._clock)
        return self._windows[name]
