"""Threads shared fairly: one person's work never keeps another's waiting for all of it."""

import threading
from collections.abc import Iterator

import pytest
from django.utils import translation

from chat.db.fair_executor import FairExecutor

PATIENCE = 30.0  # seconds


@pytest.fixture
def fair() -> Iterator[FairExecutor]:
    made = FairExecutor("test", threads=2)
    yield made
    made._pool.shutdown(wait=True)


def test_each_user_has_one_thread_at_a_time(fair: FairExecutor) -> None:
    gate, began = threading.Event(), []

    def hold(number: int) -> None:
        began.append(number)
        gate.wait(PATIENCE)

    heavy = [fair.submit("alice", hold, number) for number in range(20)]
    assert fair.submit("bob", lambda: "done").result(PATIENCE) == "done"
    assert began == [0]

    gate.set()
    assert [future.result(PATIENCE) for future in heavy] == [None] * 20
    assert began == list(range(20))


def test_people_take_turns() -> None:
    fair, gate, order = FairExecutor("test", threads=1), threading.Event(), []
    first = fair.submit("alice", gate.wait, PATIENCE)
    work = [fair.submit(person, order.append, person) for person in ["alice"] * 3 + ["bob"] * 2 + ["carol"]]

    gate.set()
    assert first.result(PATIENCE)
    for future in work:
        future.result(PATIENCE)
    assert order == ["alice", "bob", "carol", "alice", "bob", "alice"]
    fair._pool.shutdown()


def test_an_error_reaches_its_caller_and_the_next_one_runs(fair: FairExecutor) -> None:
    failing, next_one = fair.submit("alice", int, "x"), fair.submit("alice", int, "1")

    with pytest.raises(ValueError, match="invalid literal"):
        failing.result(PATIENCE)
    assert next_one.result(PATIENCE) == 1


def test_work_cancelled_in_the_queue_is_not_done(fair: FairExecutor) -> None:
    gate, done = threading.Event(), []
    holding = fair.submit("alice", gate.wait, PATIENCE)
    waiting, last = fair.submit("alice", done.append, 1), fair.submit("alice", done.append, 2)

    assert waiting.cancel()
    gate.set()
    assert holding.result(PATIENCE)
    last.result(PATIENCE)
    assert done == [2]


def test_next_caller_runs_if_a_connection_cannot_be_closed(
    fair: FairExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError

    monkeypatch.setattr("chat.db.fair_executor.connections.close_all", fail)
    for _ in range(3):
        assert fair.submit("alice", int, "1").result(PATIENCE) == 1


def test_nothing_is_kept_of_people_who_wait_no_more(fair: FairExecutor) -> None:
    for person in range(50):
        fair.submit(person, int).result(PATIENCE)
    fair._pool.shutdown(wait=True)
    assert (fair._queues, fair._busy) == ({}, set())


def test_the_language_of_who_asked_holds_in_the_thread(fair: FairExecutor) -> None:
    with translation.override("de"):
        future = fair.submit("alice", translation.get_language)
    assert future.result(PATIENCE) == "de"


def test_waiting_work_is_counted_by_person(fair: FairExecutor) -> None:
    gate = threading.Event()
    work = [fair.submit("alice", gate.wait, PATIENCE) for _ in range(4)]
    assert (fair.waiting("alice"), fair.waiting("bob")) == (3, 0)
    gate.set()
    for future in work:
        future.result(PATIENCE)
    assert fair.waiting("alice") == 0
