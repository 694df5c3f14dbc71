"""Circuit breakers: per model, and for the account's daily quota.

Each process has breakers of its own, because the few requests that each of them sends to a dead upstream cost
little.
"""

import time
from collections.abc import Callable

from chat.upstream.errors import ErrorKind

FAILURE_THRESHOLD = 6  # consecutive failures that open the breaker: two replies with their retries
TRIAL_INTERVAL_SECONDS = 21.0  # between two trial requests of an open breaker: 14 in five minutes
# Consecutive refusals after which the quota counts as spent: a single stray error must not block the site.
QUOTA_REFUSAL_THRESHOLD = 3
# Between two trial requests while the quota is spent: the account's owner may have bought more.
QUOTA_TRIAL_INTERVAL_SECONDS = 300.0

Clock = Callable[[], float]


class CircuitBreaker:
    """A breaker that opens after consecutive failures of one model.

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
        self._pause = pause
        self._clock = clock
        self._failures = 0
        self._next_trial: float | None = None
        self.kind = ErrorKind.UNAVAILABLE  # the kind of the last failure

    @property
    def is_open(self) -> bool:
        return self._next_trial is not None

    def retry_after(self) -> float:
        """Return the seconds until a request may be sent; 0.0 if it may be sent now."""
        return 0.0 if self._next_trial is None else max(0.0, self._next_trial - self._clock())

    def try_acquire(self) -> bool:
        """Return True if a request may be sent now, which the caller must then send: it may be the trial."""
        if self.retry_after() > 0:
            return False
        if self._next_trial is not None:
            self._next_trial = self._clock() + self._pause
        return True

    def record_failure(self, kind: ErrorKind) -> None:
        self.kind = kind
        self._failures += 1
        if self._next_trial is None and self._failures >= self._threshold:
            self._next_trial = self._clock() + self._pause

    def record_success(self) -> None:
        """Close the breaker: the model responds, even if only with an error about the request."""
        self._failures, self._next_trial = 0, None


class QuotaBreaker:
    """A breaker for the account's daily allowance, open from its exhaustion until its reset.

    While it is open, it lets one trial request through every `pause` seconds. A reply closes it.
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
        self._refusals = 0
        self._until: float | None = None
        self._next_trial = 0.0

    def retry_after(self) -> float:
        """Return the seconds until the allowance is reset; 0.0 if it is not spent."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock())

    def may_acquire(self) -> bool:
        """Return True if a request may be sent now, without taking the trial."""
        return self.retry_after() == 0 or self._clock() >= self._next_trial

    def try_acquire(self) -> bool:
        """Return True if a request may be sent now, which the caller must then send: it may be the trial."""
        if not self.may_acquire():
            return False
        self._next_trial = self._clock() + self._pause
        return True

    def record_refusal(self, seconds: float) -> None:
        """Count Cloudflare's response that the allowance is spent and will be reset after `seconds`."""
        self._refusals += 1
        if self._refusals >= self._threshold:
            self._next_trial = self._clock() + self._pause
            self._until = self._clock() + seconds

    def record_success(self) -> None:
        self._refusals, self._until = 0, None
