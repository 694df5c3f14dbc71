"""The rules of `chat/ownership/protocol.py`, each by itself; tests/simulation drives them all together."""

from dataclasses import dataclass

import pytest

from chat.ownership.protocol import (
    LOCK_TRUSTED_SECONDS,
    SILENT_SECONDS,
    STEADY_SECONDS,
    Backlog,
    Heartbeat,
    Lease,
    Merge,
    Texts,
    merge,
)

STILL = {"we": Heartbeat(1, 1), "they": Heartbeat(1, 7)}
BEAT = 3.0  # seconds


def observed(*sent: float) -> Lease[str]:
    """Our lease after heartbeats at these times, during which another worker's row has not changed."""
    lease = Lease("we")
    for at in sent:
        lease.renewed(at, at, STILL)
    return lease


def steady(seconds: float) -> list[float]:
    return [beat * BEAT for beat in range(int(seconds / BEAT) + 1)]


def test_a_worker_is_silent_after_heartbeats_without_a_gap() -> None:
    assert observed(*steady(SILENT_SECONDS)).is_silent("they")
    assert not observed(*steady(SILENT_SECONDS)[:-1]).is_silent("they")


def test_a_gap_in_our_own_heartbeats_begins_the_silence_anew() -> None:
    gap = SILENT_SECONDS + STEADY_SECONDS + 1
    assert not observed(0.0, gap).is_silent("they")
    slow = Lease("we")
    slow.renewed(0.0, 0.0, STILL)
    slow.renewed(BEAT, SILENT_SECONDS + BEAT, STILL)  # its answer took too long
    assert not slow.is_silent("they")
    failed = observed(*steady(SILENT_SECONDS))
    failed.failed()
    assert not failed.is_silent("they")


@pytest.mark.parametrize(
    ("locked", "seconds", "dead"),
    [
        (None, SILENT_SECONDS, True),
        (None, SILENT_SECONDS - BEAT, False),
        (False, 0.0, True),
        (True, SILENT_SECONDS, False),
        (True, LOCK_TRUSTED_SECONDS, True),
    ],
)
def test_a_lock_proves_life_for_a_while_and_a_free_one_death(
    locked: bool | None, seconds: float, dead: bool
) -> None:
    fenced = observed(*steady(seconds)).to_fence(["they"], lambda worker: locked)
    assert fenced == ([("they", STILL["they"])] if dead else [])


def test_no_run_begins_under_a_lease_that_may_be_lost() -> None:
    lease = observed(100.0)
    assert lease.is_certain(100.0 + SILENT_SECONDS - 1)
    assert not lease.is_certain(100.0 + SILENT_SECONDS)
    assert not Lease("we").is_certain(0.0)


def test_a_run_without_a_task_is_abandoned_at_the_second_beat() -> None:
    lease = Lease("we")
    lease.renewed(10.0, 10.1, {"we": Heartbeat(1, 1)})
    assert lease.abandoned(["launched", "lost"], ["launched"]) == set()
    lease.renewed(13.0, 13.1, {"we": Heartbeat(1, 2)})
    assert lease.abandoned(["launched", "lost"], ["launched"]) == {"lost"}


def test_of_two_beats_that_an_outage_held_up_the_first_counts() -> None:
    """They are answered at once: a run that was stored meanwhile is about to be launched."""
    lease = Lease("we")
    lease.renewed(10.0, 30.1, {"we": Heartbeat(1, 1)})
    assert lease.abandoned(["stored"], []) == set()
    lease.renewed(30.1, 30.2, {"we": Heartbeat(1, 2)})
    assert lease.abandoned(["stored"], []) == set()
    lease.renewed(33.1, 33.2, {"we": Heartbeat(1, 3)})
    assert lease.abandoned(["stored"], []) == {"stored"}


@dataclass
class Reply:
    """A run that grows."""

    text: str
    reasoning: str = ""
    has_ended: bool = False
    batched_text: int = 0
    batched_reasoning: int = 0
    id: str = "run"


def test_a_batch_is_repeated_unchanged_until_it_is_stored() -> None:
    backlog, run = Backlog[Reply](), Reply("some")
    backlog.add(run)
    first = backlog.next_batch(0.0, tick=True)
    run.text, run.has_ended = "some more", True
    assert backlog.next_batch(1.0, tick=True) is first
    assert [chunk.text for chunk in first.chunks] == ["some"]
    assert backlog.stored() == []
    assert backlog.next_batch(2.0, tick=False).ended == [run]
    assert backlog.stored() == [run]
    assert not backlog.runs


@pytest.mark.parametrize(
    ("stored", "ours", "is_last", "kept"),
    [
        ("some text", "some", True, Merge.NOTHING),
        ("some", "some", True, Merge.NOTHING),
        ("some", "some text", True, Merge.EXTEND),
        ("some", "some text", False, Merge.SEPARATE),
        ("some", "other", True, Merge.SEPARATE),
    ],
)
def test_the_longer_text_is_kept(stored: str, ours: str, is_last: bool, kept: Merge) -> None:
    assert merge(Texts(stored, ""), Texts(ours, ""), is_last=is_last) is kept
    assert merge(Texts("", stored), Texts("", ours), is_last=is_last) is kept
