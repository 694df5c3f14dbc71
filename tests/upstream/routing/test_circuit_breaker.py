"""A model that does not answer is left alone, and looked at now and then."""

from chat.upstream.errors import ErrorKind
from chat.upstream.routing.circuit_breaker import CircuitBreaker, QuotaBreaker
from tests.upstream.routing.clock import Clock


def broken(clock: Clock) -> CircuitBreaker:
    made = CircuitBreaker(failures=3, pause=20, clock=clock)
    for _ in range(3):
        assert made.try_acquire()
        made.record_failure(ErrorKind.BUSY)
    return made


def test_failures_in_a_row_open_it() -> None:
    made = CircuitBreaker(failures=3, pause=20, clock=Clock())
    for kind in (ErrorKind.BUSY, ErrorKind.TIMEOUT):
        made.record_failure(kind)
    made.record_success()
    for kind in (ErrorKind.BUSY, ErrorKind.TIMEOUT):
        made.record_failure(kind)
    assert not made.is_open
    made.record_failure(ErrorKind.UNAVAILABLE)
    assert (made.is_open, made.try_acquire(), made.kind) == (True, False, ErrorKind.UNAVAILABLE)


def test_one_call_at_a_time_looks_whether_it_answers() -> None:
    clock = Clock()
    made = broken(clock)
    assert made.retry_after() == 20
    clock.now += 20
    assert [made.try_acquire() for _ in range(3)] == [True, False, False]
    made.record_failure(ErrorKind.BUSY)
    assert not made.try_acquire()
    clock.now += 20
    assert made.try_acquire()
    made.record_success()
    assert (made.is_open, made.retry_after(), made.try_acquire()) == (False, 0.0, True)


def test_a_late_failure_does_not_delay_the_probe() -> None:
    clock = Clock()
    made = broken(clock)
    clock.now += 19
    made.record_failure(ErrorKind.TIMEOUT)
    clock.now += 1
    assert made.try_acquire()


def test_a_spent_allowance_is_spent_until_it_begins_anew() -> None:
    clock = Clock()
    made = QuotaBreaker(refusals=2, pause=300, clock=clock)
    made.record_refusal(1_000)
    made.record_success()
    made.record_refusal(1_000)
    assert (made.retry_after(), made.try_acquire()) == (0.0, True)
    made.record_refusal(1_000)
    assert (made.retry_after(), made.try_acquire()) == (1_000, False)
    clock.now += 300
    assert [made.try_acquire(), made.try_acquire()] == [True, False], "a look now and then"
    clock.now += 700
    assert [made.try_acquire(), made.try_acquire()] == [True, True]


def test_a_reply_shows_that_the_allowance_is_not_spent() -> None:
    made = QuotaBreaker(refusals=1, clock=Clock())
    made.record_refusal(1_000)
    made.record_success()
    assert (made.retry_after(), made.try_acquire()) == (0.0, True)
