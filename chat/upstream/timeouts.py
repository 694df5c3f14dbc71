"""Timeouts of a reply, and the retry policy with its backoff."""

import random
from dataclasses import dataclass, field

from .errors import ErrorKind, UpstreamError


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds. Only tokens restart them: bytes without a token are no sign of progress."""

    first_token: float = 120.0
    unstreamed: float = 250.0  # for a JSON response; Cloudflare's own timeout is 240
    between_tokens: float = 60.0
    whole: float = 600.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `max_retries` after the first request, with exponential backoff and jitter.

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
