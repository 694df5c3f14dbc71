"""A model that does not answer is left alone, and looked at now and then."""

from chat.upstream.errors import Kind
from chat.upstream.routing.circuit_breaker import Allowance, Breaker


class Clock:
    """Seconds, which pass when somebody says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def broken(clock: Clock) -> Breaker:
    made = Breaker(failures=3, pause=20, clock=clock)
    for _ in range(3):
        assert made.admits()
        made.failed(Kind.BUSY)
    return made


def test_failures_in_a_row_open_it() -> None:
    made = Breaker(failures=3, pause=20, clock=Clock())
    for kind in (Kind.BUSY, Kind.TIMEOUT):
        made.failed(kind)
    made.succeeded()
    for kind in (Kind.BUSY, Kind.TIMEOUT):
        made.failed(kind)
    assert not made.is_open
    made.failed(Kind.UNAVAILABLE)
    assert (made.is_open, made.admits(), made.kind) == (True, False, Kind.UNAVAILABLE)


def test_one_call_at_a_time_looks_whether_it_answers() -> None:
    clock = Clock()
    made = broken(clock)
    assert made.left() == 20
    clock.now += 20
    assert [made.admits() for _ in range(3)] == [True, False, False]
    made.failed(Kind.BUSY)
    assert not made.admits()
    clock.now += 20
    assert made.admits()
    made.succeeded()
    assert (made.is_open, made.left(), made.admits()) == (False, 0.0, True)


def test_what_began_before_it_opened_does_not_put_the_next_look_off() -> None:
    clock = Clock()
    made = broken(clock)
    clock.now += 19
    made.failed(Kind.TIMEOUT)
    clock.now += 1
    assert made.admits()


def test_a_spent_allowance_is_spent_until_it_begins_anew() -> None:
    clock = Clock()
    made = Allowance(refusals=2, pause=300, clock=clock)
    made.refused(1_000)
    made.succeeded()
    made.refused(1_000)
    assert (made.left(), made.admits()) == (0.0, True)
    made.refused(1_000)
    assert (made.left(), made.admits()) == (1_000, False)
    clock.now += 300
    assert [made.admits(), made.admits()] == [True, False], "a look now and then"
    clock.now += 700
    assert [made.admits(), made.admits()] == [True, True]


def test_a_reply_shows_that_the_allowance_is_not_spent() -> None:
    made = Allowance(refusals=1, clock=Clock())
    made.refused(1_000)
    made.succeeded()
    assert (made.left(), made.admits()) == (0.0, True)
