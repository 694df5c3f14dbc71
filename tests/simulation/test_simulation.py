"""The protocol keeps its word in every schedule, and each of its rules is needed for that."""

from collections.abc import Callable, Sequence

import pytest

from chat.ownership import protocol
from chat.ownership.protocol import Backlog, Lease, Merge

from .database import Message, Violation
from .process import Process
from .scenario import FAULTS, Scenario

SCHEDULES = 600  # of 20,000 in `make simulate`
ENOUGH = 6_000  # schedules in which a broken rule must show


def nothing(process: Process) -> None:
    pass


def first_violation(prepare: Callable[[Process], None] = nothing, kinds: Sequence[str] = FAULTS) -> str:
    for seed in range(ENOUGH):
        try:
            Scenario(seed, prepare, kinds).run()
        except Violation as violation:
            return str(violation)
    pytest.fail("no schedule shows that the rule is broken")


def test_no_schedule_breaks_the_protocol() -> None:
    for seed in range(SCHEDULES):
        Scenario(seed).run()


def test_a_seed_replays() -> None:
    one, two = Scenario(7), Scenario(7)
    one.run()
    two.run()
    assert one.viewers.seen == two.viewers.seen
    assert one.faults == two.faults


def test_an_outage_that_counts_as_silence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "failed", lambda self: None)
    monkeypatch.setattr(protocol, "STEADY_SECONDS", float("inf"))
    assert "nothing is wrong with it" in first_violation()


def test_a_gap_that_counts_as_silence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a process be frozen itself, or its database hang."""
    monkeypatch.setattr(protocol, "STEADY_SECONDS", float("inf"))
    assert "nothing is wrong with it" in first_violation(kinds=["outage"])


def test_a_short_silence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SILENT_SECONDS", 2.0)
    assert "was fenced" in first_violation()


def test_a_fence_that_comes_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "may_fence", lambda row, observed: True)
    assert "was fenced" in first_violation(kinds=["trouble", "freeze"])


def test_a_held_lock_that_proves_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "LOCK_TRUSTED_SECONDS", protocol.SILENT_SECONDS)
    assert "its lock is held" in first_violation()


def test_a_free_lock_that_proves_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "_is_dead", lambda self, worker, locked: self.is_silent(worker))
    assert "outlive the restart" in first_violation()


def test_orphans_that_nobody_ends_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "is_orphan", lambda epoch, owner: False)
    assert "stay live" in first_violation() or "outlive the restart" in first_violation()


def test_a_run_whose_launch_was_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "abandoned", lambda self, stored, known: set())
    assert "stay live" in first_violation()


def test_a_run_under_a_lease_that_is_over_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "is_certain", lambda self, now: True)
    assert "under an epoch that was over" in first_violation()


def test_an_owner_whose_longer_text_is_refused_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "merge", lambda stored, ours, is_last: Merge.NOTHING)
    assert "characters were seen" in first_violation()


def test_a_merge_into_a_continued_message_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = protocol.merge
    monkeypatch.setattr(protocol, "merge", lambda stored, ours, is_last: real(stored, ours, is_last=True))
    first_violation()


@pytest.mark.parametrize(
    ("break_rule", "found"),
    [
        (lambda process: setattr(process.database, "guards_endings", False), "ended twice"),
        (lambda process: setattr(process, "announces_early", True), "was said to end"),
        (lambda process: setattr(process, "writes_journal", False), "characters were seen"),
        (lambda process: setattr(process, "uses_wall_clock", True), ""),
    ],
    ids=["two endings", "announced before it is stored", "no journal", "wall clock"],
)
def test_a_broken_rule_is_found(break_rule: Callable[[Process], None], found: str) -> None:
    assert found in first_violation(break_rule)


def test_a_batch_that_is_not_repeated_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Backlog.next_batch

    def anew(self, now: float, *, tick: bool):
        self._batch = None
        return real(self, now, tick=tick)

    monkeypatch.setattr(Backlog, "next_batch", anew)
    first_violation()


def test_a_reply_far_ahead_of_its_log_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backlog, "may_grow", lambda self, now: True)
    assert "ahead of its log" in first_violation(kinds=["outage"])


def test_the_model_sees_what_it_looks_for() -> None:
    """The database's model alone: a text that is neither stored nor a version is missing."""
    database = Scenario(0).database
    database.open(1, message := Message(), worker=1, epoch=1, sent=0.0)
    database.runs[1].chunks[0] = "stored"
    assert database.holds(1, "store")
    assert not database.holds(1, "stored and more")
    message.versions.append("stored and more")
    assert database.holds(1, "stored and more")
