"""A model that does not answer is left alone, and looked at now and then."""

import pytest

from chat.upstream.errors import ErrorKind
from chat.upstream.routing.circuit_breaker import NOBODY, STREAK_SECONDS, CircuitBreaker, QuotaBreaker
from tests.upstream.routing.clock import Clock


def broken(clock: Clock) -> CircuitBreaker:
    made = CircuitBreaker(failures=3, pause=20, clock=clock)
    for _ in range(3):
        assert made.try_acquire("alice")
        made.record_failure(ErrorKind.BUSY, NOBODY)
    return made


@pytest.mark.parametrize(
    ("failed", "paused"),
    [
        # Each letter is a failed request of a person, "-" one of nobody's making, "A" an answer to Alice.
        ("aa", ""),
        ("aaa", "a"),
        ("aaaaaaaaa", "a"),
        ("aabb", "abc"),
        ("aab", "abc"),
        ("ab", ""),
        ("---", "abc"),
        ("--a", "abc"),
        ("--", ""),
        ("aaAa", ""),
        ("aaAb", ""),
        ("aabA", ""),
        ("aaBa", "a"),
        ("aaBaBbCb", "a"),
        ("--A-", ""),
    ],
)
def test_who_is_paused(failed: str, paused: str) -> None:
    made = CircuitBreaker(failures=3, pause=20, clock=Clock())
    for person in failed:
        if person.isupper():
            made.record_success(person.lower())
        else:
            made.record_failure(ErrorKind.TIMEOUT, NOBODY if person == "-" else person)
    assert "".join(each for each in "abc" if made.is_open_to(each)) == paused
    assert made.is_open == bool(paused)
    for each in "abc":
        assert made.try_acquire(each) == (each not in paused)


def test_a_pause_of_one_person_ends_with_a_trial_of_their_own() -> None:
    clock = Clock()
    made = CircuitBreaker(failures=1, pause=20, clock=clock)
    made.record_failure(ErrorKind.UNAVAILABLE, "alice")
    assert (made.retry_after("alice"), made.retry_after("bob"), made.kind) == (20, 0, ErrorKind.UNAVAILABLE)
    made.record_success("bob")
    assert not made.try_acquire("alice")
    clock.now += 20
    assert [made.try_acquire("alice") for _ in range(2)] == [True, False]
    clock.now += 20
    made.record_success("alice")
    assert [made.try_acquire("alice") for _ in range(2)] == [True, True]


def test_old_failures_do_not_count() -> None:
    clock = Clock()
    made = CircuitBreaker(failures=2, clock=clock)
    for _ in range(3):
        made.record_failure(ErrorKind.BUSY, "alice")
        clock.now += STREAK_SECONDS + 1
        made.record_failure(ErrorKind.BUSY, NOBODY)
        clock.now += STREAK_SECONDS + 1
    assert not made.is_open


def test_one_call_at_a_time_looks_whether_it_answers() -> None:
    clock = Clock()
    made = broken(clock)
    assert made.retry_after("alice") == 20
    clock.now += 20
    assert [made.try_acquire(each) for each in ("alice", "bob", "alice")] == [True, False, False]
    made.record_failure(ErrorKind.BUSY, NOBODY)
    assert not made.try_acquire("bob")
    clock.now += 20
    assert made.try_acquire("bob")
    made.record_success("bob")
    assert (made.is_open, made.retry_after("alice"), made.try_acquire("alice")) == (False, 0.0, True)


def test_a_late_failure_does_not_delay_the_probe() -> None:
    clock = Clock()
    made = broken(clock)
    clock.now += 19
    made.record_failure(ErrorKind.TIMEOUT, "alice")
    clock.now += 1
    assert made.try_acquire("alice")


def test_a_spent_allowance_is_spent_until_it_begins_anew() -> None:
    clock = Clock()
    made = QuotaBreaker(refusals=2, pause=300, clock=clock)
    made.record_refusal(1_000, "")
    made.record_success()
    made.record_refusal(1_000, "")
    assert (made.retry_after("bob"), made.try_acquire("bob")) == (0.0, True)
    made.record_refusal(1_000, "")
    assert (made.retry_after("bob"), made.try_acquire("bob")) == (1_000, False)
    clock.now += 300
    assert [made.try_acquire("bob"), made.try_acquire("bob")] == [True, False], "a look now and then"
    clock.now += 700
    assert [made.try_acquire("bob"), made.try_acquire("bob")] == [True, True]


@pytest.mark.parametrize(
    ("refused", "paused"),
    [
        # Each letter is a refused request of a person, "-" one of the site itself, "A" an answer to Alice.
        ("aa", ""),
        ("aaa", "a"),
        ("aaaaaaaaa", "a"),
        ("aab", "abc"),
        ("aaab", "abc"),
        ("---", "abc"),
        ("aa-", "abc"),
        ("aaaB", ""),
        ("aaBa", ""),
    ],
)
def test_for_whom_the_allowance_is_spent(refused: str, paused: str) -> None:
    made = QuotaBreaker(refusals=3, clock=Clock())
    for person in refused:
        if person.isupper():
            made.record_success()
        else:
            made.record_refusal(1_000, "" if person == "-" else person)
    assert "".join(each for each in "abc" if made.retry_after(each)) == paused
    assert made.is_open == bool(paused)
    assert [made.try_acquire(each) for each in "abc"] == [each not in paused for each in "abc"]
