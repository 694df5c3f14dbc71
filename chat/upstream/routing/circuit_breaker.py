"""When to leave a model alone that does not answer, and when to look whether it does again.

Each process has breakers of its own: what a dead upstream costs is counted by calls, and these are few.
"""

import time
from collections.abc import Callable

from chat.upstream.errors import ErrorKind

FAILURE_THRESHOLD = 6  # calls in a row, after which a model is left alone: two replies with their retries
TRIAL_INTERVAL_SECONDS = 21.0  # seconds between two looks at one that is: 14 in five minutes
QUOTA_REFUSAL_THRESHOLD = (
    3  # in a row, after which the allowance counts as spent: one odd answer must not silence a site
)
QUOTA_TRIAL_INTERVAL_SECONDS = (
    300.0  # seconds between two looks at a spent allowance: somebody may have paid for more
)

Clock = Callable[[], float]


class CircuitBreaker:
    """Counts one model's failures in a row. Open, it lets one call through every `pause` seconds.

    That call is the trial. One that hangs holds up no other for longer than the pause, so the model is back
    within it once it answers. A failure of a call that began before changes nothing.
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
        self.kind = ErrorKind.UNAVAILABLE  # of the last failure

    @property
    def is_open(self) -> bool:
        return self._next_trial is not None

    def retry_after(self) -> float:
        """Seconds until a call may be made; 0.0 where one may now."""
        return 0.0 if self._next_trial is None else max(0.0, self._next_trial - self._clock())

    def try_acquire(self) -> bool:
        """Whether a call may be made now, which the caller then makes."""
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
        """It answers, be it by a refusal that is about the question."""
        self._failures, self._next_trial = 0, None


class QuotaBreaker:
    """The account's daily allowance: once spent, nothing is asked until it begins anew, but for a look now
    and then. A reply closes it."""

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
        """Seconds until it begins anew; 0.0 where it is not spent."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock())

    def may_acquire(self) -> bool:
        return self.retry_after() == 0 or self._clock() >= self._next_trial

    def try_acquire(self) -> bool:
        """Whether a call may be made now, which the caller then makes."""
        if not self.may_acquire():
            return False
        self._next_trial = self._clock() + self._pause
        return True

    def record_refusal(self, seconds: float) -> None:
        """Cloudflare says that it is spent, and begins anew after so many seconds."""
        self._refusals += 1
        if self._refusals >= self._threshold:
            self._next_trial = self._clock() + self._pause
            self._until = self._clock() + seconds

    def record_success(self) -> None:
        self._refusals, self._until = 0, None
