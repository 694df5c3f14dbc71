"""A clock for circuit breakers and rate limiters."""


class Clock:
    """Seconds that pass only when a test adds to `now`."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now
