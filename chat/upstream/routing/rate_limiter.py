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

from chat.upstream.catalogue import Model

from .circuit_breaker import Clock
from .wait_queue import Line, Tell

if TYPE_CHECKING:
    from .redis_rate_limiter import SharedMinutes

WINDOW = 60.0  # seconds
LEARNED = 600.0  # seconds that a limit holds which Cloudflare's refusal showed to be lower than documented
REFUSALS = 3  # questions in a row, after which a limit is believed to be reached: one may be meant for others
# Of the configured limit: no less is ever learned. Refusals also come from what others ask of the account,
# and say nothing of this site's share then; one that is too many costs a few milliseconds.
FLOOR_SHARE = 0.1
HOLD_SECONDS = 10.0  # that a model is left alone which refused so often and did not say for how long
INSTANT_SECONDS = 0.001  # a timer may fire that much before its time
LOOK = 1.0  # seconds between two looks of whoever is next: a limit may have changed meanwhile
ACCOUNT = ""  # where a model's id stands, the limit of all models together


class Minute:
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

    def left(self, most: int) -> float:
        """Seconds until one more may be asked; 0.0 where it may be now."""
        now = self._clock()
        while self._times and self._times[0] <= now - self._window:
            self._times.popleft()
        over = len(self._times) - self.limit(most)
        free = self._times[over] + self._window if over >= 0 else 0.0
        wait = max(free, self._held) - now
        return wait if wait > INSTANT_SECONDS else 0.0

    def take(self) -> None:
        self._times.append(self._clock())

    def answered(self) -> None:
        """What was learned is raised by each call that is taken, so that it doubles in a minute."""
        self._refusals = 0
        self._learned += 1

    def refuse(self, seconds: float | None, most: int) -> None:
        """Cloudflare refused a question although the limit, `most`, was kept.

        It is left alone for as long as Cloudflare says. After several such questions in a row the limit is
        what it had taken before.
        """
        now = self._clock()
        self._refusals += 1
        has_learned = self._refusals >= REFUSALS
        if seconds is None and has_learned:
            seconds = HOLD_SECONDS
        self._held = max(self._held, now + min(seconds or 0.0, self._window))
        if has_learned:
            self._learned = max(1, ceil(most * FLOOR_SHARE), len(self._times) - self._refusals)
            self._learned_until = now + LEARNED


class Limiter:
    """`account` and `paid` are requests a `window`: of all models together, of each one of the paid plan.

    `processes` returns how many processes are alive, this one included.
    """

    def __init__(
        self,
        account: int,
        paid: int,
        *,
        processes: Callable[[], int] = lambda: 1,
        shared: "SharedMinutes | None" = None,
        window: float = WINDOW,
        clock: Clock = time.monotonic,
    ) -> None:
        self._account = account
        self._paid = paid
        self._processes = processes
        self._shared = shared
        self._window = window
        self._clock = clock
        self._minutes: dict[str, Minute] = {}
        self._lines: dict[str, Line] = {}
        self._wait = 0.0  # seconds, as whoever is next in a line was told last

    @property
    def has_line(self) -> bool:
        """Somebody waits."""
        return any(self._lines.values())

    async def enter(self, model: Model, tell: Tell) -> None:
        """Wait until this model may be asked once more."""
        line = self._line(model)
        if line or await self._take(model):
            await line.wait(partial(self._turn, model), tell)

    async def enter_at_once(self, model: Model) -> bool:
        """Whether it may be asked once more now; nobody waits."""
        return not self.has_line and not await self._take(model)

    async def claim(self, model: Model) -> float:
        """Take a place where one is free: 0.0, else the seconds until there may be one. Nobody waits."""
        if self._line(model):
            return max(self._wait, LOOK)
        return await self._take(model)

    def refused(self, model: Model, seconds: float | None) -> None:
        """Cloudflare said that it was too much for a minute, and perhaps when to come back.

        To be told once for each question, however often that was asked again.
        """
        most = self._most(model)
        if self._shared is None:
            most = max(1, most // self._processes())
        self._minute(model.id).refuse(seconds, most)

    def answered(self, model: Model) -> None:
        """It was not too much."""
        self._minute(model.id).answered()

    async def _turn(self, model: Model) -> None:
        while wait := await self._take(model):
            self._wait = wait
            await asyncio.sleep(min(wait, LOOK))

    async def _take(self, model: Model) -> float:
        """Take a place, or say how many seconds there will be none."""
        minutes = {name: self._minute(name) for name in (ACCOUNT, model.id)}
        limits = {ACCOUNT: self._account, model.id: self._most(model)}
        if self._shared is not None:
            # What is learned is this process's own: the others see the same refusals.
            if learned := minutes[model.id].left(self._account):
                return learned
            together = await self._shared.take(limits, self._window)
            if together is not None:
                return together or self._count(minutes.values())
        shares = {name: max(1, most // self._processes()) for name, most in limits.items()}
        wait = max(minute.left(shares[name]) for name, minute in minutes.items())
        return wait or self._count(minutes.values())

    def _count(self, minutes: Iterable[Minute]) -> float:
        for minute in minutes:
            minute.take()
        return 0.0

    def _most(self, model: Model) -> int:
        """The configured limit of one model."""
        return self._paid if model.paid else self._account

    def _line(self, model: Model) -> Line:
        return self._lines.setdefault(model.id if self._is_slow(model) else ACCOUNT, Line())

    def _is_slow(self, model: Model) -> bool:
        """It has a limit of its own, and those who wait for it hold up nobody else."""
        return model.paid or self._minute(model.id).limit(self._account) < self._account

    def _minute(self, name: str) -> Minute:
        if name not in self._minutes:
            self._minutes[name] = Minute(self._window, self._clock)
        return self._minutes[name]
