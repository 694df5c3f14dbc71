"""The readers are shared: slow files wait for each other, and nobody's small file waits for them."""

import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from chat.files import reading as module
from chat.files.confinement import ChildLimits, Expired, QuickAttempt, TooSlow, run_confined
from chat.files.reading import Readers

PATIENCE = 120.0  # seconds
QUICK = QuickAttempt(cpu_seconds=1, wall_seconds=60)
LIMITS = ChildLimits(address_space_bytes=500_000_000, cpu_seconds=4, wall_seconds=90, output_bytes=1_000)
ENDLESS = "while True: pass"
LONG = "import time\nwhile time.process_time() < 2: pass\nprint('long')"  # needs more than a quick attempt


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Readers:
    monkeypatch.setattr(module, "QUICK_ATTEMPT", QUICK)
    return Readers()


@pytest.fixture
def reading(tmp_path: Path, lanes: Readers) -> Callable[..., "Future[bytes]"]:
    """Have a person's file read by a program of these lines."""

    def read(person: str, code: str, limits: ChildLimits = LIMITS) -> "Future[bytes]":
        program = tmp_path / "program.py"
        program.write_text(code)
        return lanes.submit(person, _run, program, limits)

    return read


def _run(program: Path, limits: ChildLimits) -> bytes:
    with tempfile.TemporaryFile() as file:
        return run_confined(program, file, limits)


def test_a_small_file_waits_for_nobodys_slow_ones(lanes: Readers) -> None:
    """Six people with slow files, twice as many as there are readers: all of those are still unread."""
    gate, quickly = threading.Event(), set[int]()

    def work(number: int) -> bool:
        if number not in quickly:
            quickly.add(number)
            raise TooSlow
        return gate.wait(PATIENCE)

    slow = [lanes.submit(f"person {number}", work, number) for number in range(6)]
    assert lanes.submit("alice", lambda: "small").result(PATIENCE) == "small"
    assert not any(each.done() for each in slow)
    gate.set()
    assert all(each.result(PATIENCE) for each in slow)


def test_a_file_that_needs_its_time_gets_it_after_all(reading: Any) -> None:
    assert reading("alice", LONG).result(PATIENCE) == b"long\n"


def test_a_file_without_end_is_refused_at_its_own_limits(reading: Any) -> None:
    with pytest.raises(Expired):
        reading("alice", ENDLESS).result(PATIENCE)


def test_slow_files_of_one_person_wait_for_each_other(lanes: Readers) -> None:
    gate, began = threading.Event(), []

    def work(number: int) -> int:
        if not began or began[-1] != number:
            began.append(number)
            raise TooSlow
        gate.wait(PATIENCE)
        return number

    def slow(number: int) -> "Future[int]":
        return lanes.submit("alice", work, number)

    first = slow(1)
    while lanes._slow.waiting("alice") or not began:
        threading.Event().wait(0.01)
    second = slow(2)
    while lanes.waiting("alice") != 1 or began != [1, 2]:
        threading.Event().wait(0.01)
    assert lanes.waiting("alice") == 1  # behind the first, and counted
    assert lanes.waiting("bob") == 0
    gate.set()
    assert (first.result(PATIENCE), second.result(PATIENCE)) == (1, 2)


def test_a_cancelled_file_is_not_begun_in_the_slow_lane(lanes: Readers) -> None:
    began, outcomes = [], []

    def work() -> None:
        began.append("once")
        outcomes[0].cancel()
        raise TooSlow

    ready = threading.Event()
    holding = lanes.submit("alice", ready.wait, PATIENCE)
    outcomes.append(lanes.submit("alice", work))
    ready.set()
    assert holding.result(PATIENCE)
    assert lanes.submit("alice", lambda: "next").result(PATIENCE) == "next"
    lanes._slow.submit("alice", int).result(PATIENCE)
    assert began == ["once"]


def test_the_language_of_the_request_holds_in_both_lanes(lanes: Readers) -> None:
    languages: list[str | None] = []

    def work() -> str | None:
        languages.append(translation.get_language())
        if len(languages) == 1:
            raise TooSlow
        return languages[-1]

    with translation.override("de"):
        found = lanes.submit("alice", work)
    assert found.result(PATIENCE) == "de"
    assert languages == ["de", "de"]
