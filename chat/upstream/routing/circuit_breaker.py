"""Circuit breakers: per model, and for the account's daily quota.

Each process has breakers of its own, because the few requests that each of them sends to a dead upstream cost
little.
"""

import time
from collections import Counter
from collections.abc import Callable
from functools import partial

from chat.upstream.errors import ErrorKind, UpstreamError

# Errors that open a breaker; an error of any other kind shows that the model responds.
BREAKER_FAILURES = {ErrorKind.BUSY, ErrorKind.TIMEOUT, ErrorKind.UNAVAILABLE, ErrorKind.INTERRUPTED}
FAILURE_THRESHOLD = 3  # consecutive failed requests, each with its retries, that open a breaker
PEOPLE_THRESHOLD = 2  # people whose requests failed, before a model is paused for everybody
TRIAL_INTERVAL_SECONDS = 21.0  # between two trial requests of an open breaker: 14 in five minutes
STREAK_SECONDS = 600.0  # after which a failure no longer counts
# Consecutive refusals after which the quota counts as spent: a single stray error must not block the site.
QUOTA_REFUSAL_THRESHOLD = 3
# Between two trial requests while the quota is spent: the account's owner may have bought more.
QUOTA_TRIAL_INTERVAL_SECONDS = 300.0

NOBODY = "nobody"  # in place of a person whose request failed: the server could not be reached at all

Clock = Callable[[], float]


class _Streak:
    """Consecutive failures, and the pause that follows them."""

    def __init__(self, pause: float, clock: Clock) -> None:
        self._pause = pause
        self._clock = clock
        self._next_trial: float | None = None
        self._latest = clock()
        self.people: Counter[str] = Counter()  # failed requests by person, or NOBODY

    @property
    def failures(self) -> int:
        return self.people.total()

    @property
    def is_open(self) -> bool:
        return self._next_trial is not None

    @property
    def is_over(self) -> bool:
        return self._clock() - self._latest > STREAK_SECONDS

    def retry_after(self) -> float:
        return 0.0 if self._next_trial is None else max(0.0, self._next_trial - self._clock())

    def claim(self) -> None:
        """Take the trial, if the pause is on."""
        if self._next_trial is not None:
            self._next_trial = self._clock() + self._pause

    def add(self, person: str) -> None:
        if self.is_over:
            self.people.clear()
        self.people[person] += 1
        self._latest = self._clock()

    def open(self) -> None:
        if self._next_trial is None:
            self._next_trial = self._clock() + self._pause


class CircuitBreaker:
    """A breaker that opens after consecutive failed requests to one model.

    What one person's requests cause pauses the model for that person: some requests make a server fail each
    time, and must not take the model from others. It opens for everybody after failures of PEOPLE_THRESHOLD
    people, or of nobody's making, when the server cannot be reached.

    While it is open, it lets one trial request through every `pause` seconds. A trial that hangs delays the
    next one by no more than the pause, so a model that recovers is used again within that time. While the
    breaker is open, failures of requests that began earlier change nothing.
    """

    def __init__(
        self,
        *,
        failures: int = FAILURE_THRESHOLD,
        pause: float = TRIAL_INTERVAL_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._threshold = failures
        self._new_streak = partial(_Streak, pause, clock)
        self._site = self._new_streak()
        self._people: dict[str, _Streak] = {}
        self.kind = ErrorKind.UNAVAILABLE  # the kind of the last failure

    @property
    def is_open(self) -> bool:
        """True if it is open for everybody, or for anybody."""
        return self._site.is_open or any(streak.is_open for streak in self._people.values())

    def is_open_to(self, person: str) -> bool:
        return any(streak.is_open for streak in self._streaks(person))

    def retry_after(self, person: str) -> float:
        """Return the seconds until the person's request may be sent; 0.0 if it may be sent now."""
        return max(streak.retry_after() for streak in self._streaks(person))

    def try_acquire(self, person: str) -> bool:
        """Return True if a request may be sent now, which the caller must then send: it may be the trial."""
        if self.retry_after(person) > 0:
            return False
        for streak in self._streaks(person):
            streak.claim()
        return True

    def record_error(self, error: UpstreamError, person: str) -> None:
        """Record how the person's request ended after all its retries."""
        if error.kind not in BREAKER_FAILURES:
            self.record_success(person)
        elif error.unreachable:
            self.record_failure(error.kind, NOBODY)
        else:
            self.record_failure(error.kind, person)

    def record_failure(self, kind: ErrorKind, person: str) -> None:
        """Record a request that failed, however often it was retried. `person` may be NOBODY."""
        self.kind = kind
        self._people = {name: streak for name, streak in self._people.items() if not streak.is_over}
        if person != NOBODY:
            own = self._people.setdefault(person, self._new_streak())
            own.add(person)
            if own.failures >= self._threshold:
                own.open()
        self._site.add(person)
        everybody = self._site.people[NOBODY] or len(self._site.people) >= PEOPLE_THRESHOLD
        if everybody and self._site.failures >= self._threshold:
            self._site.open()

    def record_success(self, person: str) -> None:
        """Close the breaker: the model responds, even if only with an error about the request."""
        self._site = self._new_streak()
        self._people.pop(person, None)

    def _streaks(self, person: str) -> list[_Streak]:
        return [self._site, *filter(None, [self._people.get(person)])]


class QuotaBreaker:
    """A breaker for the account's daily allowance, open from its exhaustion until its reset.

    As with a model's breaker, what one person's requests cause pauses that person alone, until another one's
    or the site's own request (person "") is refused too: a server may repeat a request's words as its own.
    A reply to anybody closes it for all, because they share the allowance.

    While it is open, it lets one trial request through every `pause` seconds.
    """

    def __init__(
        self,
        *,
        refusals: int = QUOTA_REFUSAL_THRESHOLD,
        pause: float = QUOTA_TRIAL_INTERVAL_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._threshold = refusals
        self._pause = pause
        self._clock = clock
        self._refusals: Counter[str] = Counter()  # by person
        self._until: dict[str, float] = {}  # by person, "" for everybody
        self._next_trial: dict[str, float] = {}

    @property
    def is_open(self) -> bool:
        """True if it is open for everybody, or for anybody."""
        return any(until > self._clock() for until in self._until.values())

    def retry_after(self, person: str) -> float:
        """Return the seconds until the allowance is reset; 0.0 if it is not spent."""
        return max(0.0, *(self._until.get(each, 0.0) - self._clock() for each in ("", person)))

    def may_acquire(self, person: str) -> bool:
        """Return True if the person's request may be sent now, without taking the trial."""
        trial = max(self._next_trial.get(each, 0.0) for each in ("", person))
        return self.retry_after(person) == 0 or self._clock() >= trial

    def try_acquire(self, person: str) -> bool:
        """Return True if a request may be sent now, which the caller must then send: it may be the trial."""
        if not self.may_acquire(person):
            return False
        for each in self._until.keys() & {"", person}:
            self._next_trial[each] = self._clock() + self._pause
        return True

    def record_refusal(self, seconds: float, person: str) -> None:
        """Count Cloudflare's response that the allowance is spent and will be reset after `seconds`."""
        self._refusals[person] += 1
        if self._refusals[person] >= self._threshold:
            self._open(person, seconds)
        everybody = self._refusals[""] or len(+self._refusals) >= PEOPLE_THRESHOLD
        if everybody and self._refusals.total() >= self._threshold:
            self._open("", seconds)

    def record_success(self) -> None:
        self._refusals.clear()
        self._until.clear()
        self._next_trial.clear()

    def _open(self, person: str, seconds: float) -> None:
        self._next_trial[person] = self._clock() + self._pause
        self._until[person] = self._clock() + seconds
