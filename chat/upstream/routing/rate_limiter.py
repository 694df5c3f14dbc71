"""Rate limits per minute, for the account as a whole and for each model.

Cloudflare accepts 300 requests per minute from an account, and 20 for each model that needs Workers Paid. It
would reject any further request, so these wait here. With Redis, all processes count together. Without it,
each process keeps to its share of the limit; the heartbeat provides the number of live processes, so that
sending a message costs no query. https://developers.cloudflare.com/workers-ai/platform/limits/
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from chat.upstream.catalog import LlmModel

from .circuit_breaker import Clock

if TYPE_CHECKING:
    from .redis_rate_limiter import RedisRateLimiter


NOTIFY_INTERVAL_SECONDS = 1.0  # minimum between two updates of all positions, for a queue that moves fast

PositionCallback = Callable[[int], None]
WINDOW_SECONDS = 60.0
# The time for which a lower limit applies that was learned from Cloudflare's 429 responses.
LEARNED_LIMIT_SECONDS = 600.0
# Consecutive rate-limited requests after which a lower limit is assumed: a single one may be due to other
# users of the account.
RATE_LIMITED_THRESHOLD = 3
# Lower bound of the learned limit, as a share of the configured one: other users of the account cause 429
# responses too, which say nothing about this site's share. A rejected request costs only a few milliseconds.
FLOOR_SHARE = 0.1
HOLD_SECONDS = 10.0  # pause after RATE_LIMITED_THRESHOLD rejections that name no Retry-After
TIMER_TOLERANCE_SECONDS = 0.001  # a timer may fire this much too early
RECHECK_SECONDS = 1.0  # interval at which the head of the queue checks again: the limit may have changed
ACCOUNT_KEY = ""  # in place of a model's id: the limit of the whole account


def ignore_position(place: int) -> None:
    pass


class WaitQueue:
    """A queue whose callbacks get the position: 1 for the head, 0 when the wait is over."""

    def __init__(self) -> None:
        self._waiting: list[PositionCallback] = []
        self._head = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, at_head: Callable[[], Awaitable[object]], on_position: PositionCallback) -> None:
        """Wait for the head of the queue, then await `at_head` and leave the queue."""

        def notify(place: int) -> None:  # unique per waiter, because several may pass the same callback
            on_position(place)

        self._waiting.append(notify)
        on_position(len(self._waiting))
        try:
            async with self._head:
                await at_head()
        finally:
            self._waiting.remove(notify)
            self._schedule_notify()
        on_position(0)

    def _schedule_notify(self) -> None:
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(NOTIFY_INTERVAL_SECONDS, self._notify_all)

    def _notify_all(self) -> None:
        self._timer = None
        for place, notify in enumerate(self._waiting, 1):
            notify(place)


class SlidingWindow:
    """The requests of one process, to one model or the account, in the last `window` seconds."""

    def __init__(self, window: float, clock: Clock) -> None:
        self._window = window
        self._clock = clock
        self._times: deque[float] = deque()
        self._held_until = self._learned_until = 0.0
        self._learned_limit = self._rejections = 0

    @property
    def has_learned(self) -> bool:
        return self._clock() < self._learned_until

    def limit(self, maximum: int) -> int:
        """Return the learned limit while it applies and is lower than `maximum`, else `maximum`."""
        return min(maximum, self._learned_limit) if self.has_learned else maximum

    def retry_after(self, maximum: int) -> float:
        """Return the seconds until another request may be sent; 0.0 if it may be sent now."""
        now = self._clock()
        self._forget(now)
        over = len(self._times) - self.limit(maximum)
        free = self._times[over] + self._window if over >= 0 else 0.0
        wait = max(free, self._held_until) - now
        return wait if wait > TIMER_TOLERANCE_SECONDS else 0.0

    @property
    def count(self) -> int:
        """The number of requests in the window that ends now."""
        self._forget(self._clock())
        return len(self._times)

    def _forget(self, now: float) -> None:
        while self._times and self._times[0] <= now - self._window:
            self._times.popleft()

    def record(self) -> None:
        self._times.append(self._clock())

    def record_accepted(self) -> None:
        """Raise the learned limit by one for each accepted request, so that it doubles in a minute."""
        self._rejections = 0
        self._learned_limit += 1

    def record_rate_limited(self, seconds: float | None, maximum: int) -> None:
        """Record that Cloudflare rejected a request although the limit `maximum` was kept.

        Send nothing for `seconds`, Cloudflare's Retry-After, at most one window. After RATE_LIMITED_THRESHOLD
        such requests in a row, the number of requests accepted in the current window becomes the limit, but
        no less than FLOOR_SHARE of `maximum`.
        """
        now = self._clock()
        self._rejections += 1
        has_learned = self._rejections >= RATE_LIMITED_THRESHOLD
        if seconds is None and has_learned:
            seconds = HOLD_SECONDS
        self._held_until = max(self._held_until, now + min(seconds or 0.0, self._window))
        if has_learned:
            self._learned_limit = max(1, ceil(maximum * FLOOR_SHARE), len(self._times) - self._rejections)
            self._learned_until = now + LEARNED_LIMIT_SECONDS


class RateLimiter:
    """The rate limits of the account, with queues for the requests that have to wait.

    `account`: requests per `window` seconds for all models together; `paid`: for each model that needs
    Workers Paid. `processes` returns the number of live processes, including this one. `shared` counts the
    requests of all processes in Redis.
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
        self._head_wait = 0.0  # seconds, the latest waiting time at the head of a queue

    def share(self, shared: "RedisRateLimiter | None") -> None:
        """Count with all processes from now on, such as for another account; None: for this process alone."""
        self._shared = shared

    @property
    def has_waiters(self) -> bool:
        """True if a request waits in any queue."""
        return any(self._queues.values())

    @property
    def waiting(self) -> int:
        """The number of requests that wait in any queue."""
        return sum(map(len, self._queues.values()))

    @property
    def maximum(self) -> int:
        """The requests that the account may send in one window."""
        return self._account

    @property
    def recent(self) -> int:
        """The number of requests that this process sent to the account in the last window."""
        return self._sliding_window(ACCOUNT_KEY).count

    @property
    def lowered(self) -> int:
        """The number of models whose limit is lower for now, because Cloudflare rejected requests."""
        return sum(window.has_learned for window in self._windows.values())

    async def acquire(self, model: LlmModel, on_position: PositionCallback) -> None:
        """Wait until a request to the model may be sent, and count it; `on_position` gets queue positions."""
        queue = self._queue(model)
        if queue or await self._take_or_delay(model):
            await queue.wait(partial(self._wait_and_take, model), on_position)

    async def try_acquire(self, model: LlmModel) -> bool:
        """Count a request and return True if it may be sent now and no other request is waiting.

        Never waits.
        """
        return not self.has_waiters and not await self._take_or_delay(model)

    async def acquire_or_delay(self, model: LlmModel, share: float = 1.0) -> float:
        """Count a request and return 0.0 if it may be sent now, else the seconds until it may be.

        Never waits. While other requests wait in the queue, the result is at least RECHECK_SECONDS. `share`:
        the part of the limits that requests may fill before this one is refused.
        """
        if self._queue(model):
            return max(self._head_wait, RECHECK_SECONDS)
        return await self._take_or_delay(model, share)

    def record_rate_limited(self, model: LlmModel, seconds: float | None) -> None:
        """Record a 429 response; `seconds` is its Retry-After, None if it has none.

        Call this once per request, however often that was retried.
        """
        maximum = self._configured_limit(model)
        if self._shared is None:
            maximum = max(1, maximum // self._processes())
        self._sliding_window(model.id).record_rate_limited(seconds, maximum)

    def record_accepted(self, model: LlmModel) -> None:
        """Record a response other than 429; it may be another error."""
        self._sliding_window(model.id).record_accepted()

    async def _wait_and_take(self, model: LlmModel) -> None:
        """Count a request as soon as it may be sent; for the head of a queue."""
        while wait := await self._take_or_delay(model):
            self._head_wait = wait
            await asyncio.sleep(min(wait, RECHECK_SECONDS))

    async def _take_or_delay(self, model: LlmModel, share: float = 1.0) -> float:
        """Count a request and return 0.0, or return the seconds until one may be sent."""
        windows = {name: self._sliding_window(name) for name in (ACCOUNT_KEY, model.id)}
        limits = {ACCOUNT_KEY: self._account, model.id: self._configured_limit(model)}
        limits = {name: max(1, int(maximum * share)) for name, maximum in limits.items()}
        if self._shared is not None:
            # Learned limits are not shared: the other processes get the same 429 responses.
            if learned_wait := windows[model.id].retry_after(self._account):
                return learned_wait
            shared_wait = await self._shared.acquire_or_delay(limits, self._window)
            if shared_wait is not None:
                return shared_wait or self._count(windows.values())
        shares = {name: max(1, maximum // self._processes()) for name, maximum in limits.items()}
        wait = max(window.retry_after(shares[name]) for name, window in windows.items())
        return wait or self._count(windows.values())

    def _count(self, windows: Iterable[SlidingWindow]) -> float:
        for window in windows:
            window.record()
        return 0.0

    def _configured_limit(self, model: LlmModel) -> int:
        return self._paid if model.paid else self._account

    def _queue(self, model: LlmModel) -> WaitQueue:
        return self._queues.setdefault(model.id if self._is_slow(model) else ACCOUNT_KEY, WaitQueue())

    def _is_slow(self, model: LlmModel) -> bool:
        """Return True if the model has a limit of its own, and so a queue that delays no other model."""
        return model.paid or self._sliding_window(model.id).limit(self._account) < self._account

    def _sliding_window(self, name: str) -> SlidingWindow:
        if name not in self._windows:
            self._windows[name] = SlidingWindow(self._window, self._clock)
        return self._windows[name]
