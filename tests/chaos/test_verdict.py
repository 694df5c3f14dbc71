"""The checking itself: it sees each kind of broken promise, and nothing where none is broken."""

from dataclasses import replace
from uuid import UUID

import pytest

from chat.wire.sse import Event

from .faults import Kind
from .interruption import Cause, Ending, Trouble, cause_of
from .leases import Leases, Silence
from .sighting import Sighting
from .stored import Stored
from .verdict import Counts, Outcome, judge

TEXT = "one two three four five"
PAGE = "<p>one two three</p>\n<p>four five</p>"


def viewer(text: str = TEXT, *, page: bool = False, **more: object) -> Sighting:
    blocks = PAGE.split("\n") if page else []
    kept = {"statuses": ["complete"], "finished": True, "blocks": blocks, "position": f"{len(text)}!"}
    return Sighting(page, text=text, **{**kept, **more})


def stored(text: str = TEXT, **more: object) -> Stored:
    return Stored(**{"statuses": ["complete"], "text": text, "questions": 1, "runs": ["1"], **more})


def outcome(*sightings: Sighting, **more: object) -> Outcome:
    usual = {"stored": stored(), "calls": 1, "second": 20, "page": PAGE, "again": viewer()}
    return Outcome(TEXT, "", list(sightings) or [viewer(), viewer(page=True)], **{**usual, **more})


def test_a_kept_promise_has_no_failures() -> None:
    counts = judge(outcome())
    assert counts == Counts(replies=1, seen=len(TEXT))
    assert not counts.failures


@pytest.mark.parametrize(
    ("broken", "name", "count"),
    [
        (outcome(stored=stored(TEXT[:-1]), page=None, again=None), "lost", 1),
        (outcome(stored=stored("one 2wo three four five"), page=None, again=None), "lost", len(TEXT) - 4),
        (outcome(viewer("one", texts=[TEXT]), stored=stored("one"), page="one", again=None), "lost", 20),
        (outcome(viewer(TEXT + "!"), page=None, stored=stored(TEXT + "!"), again=None), "invented", 1),
        (outcome(stored=stored(statuses=["running"]), again=None), "left_live", 1),
        (outcome(stored=stored(statuses=["failed"])), "failed", 1),
        (outcome(calls=3), "calls_doubled", 2),
        (outcome(viewer(statuses=["interrupted"])), "endings_doubled", 1),
        (outcome(viewer(statuses=["complete", "complete"])), "endings_doubled", 1),
        (outcome(stored=stored(questions=2)), "messages_doubled", 1),
        (outcome(viewer(finished=False, statuses=[])), "without_end", 1),
        (outcome(viewer(wrong_positions=["3 after 5"])), "positions_wrong", 1),
        (outcome(page="<p>one two three</p>"), "reloads_wrong", 1),
        (outcome(again=viewer("one two")), "reloads_wrong", 1),
        (outcome(viewer(page=True, blocks=["<p>one</p>"])), "reloads_wrong", 1),
        (outcome(viewer("", finished=False), stored=Stored(), page=None, again=None), "never_taken", 1),
    ],
)
def test_it_sees(broken: Outcome, name: str, count: int) -> None:
    assert judge(broken).failures.get(name) == count


def test_reasoning_counts_as_text_does() -> None:
    seen = viewer(reasoning="I wonder")
    assert judge(Outcome(TEXT, "I wonder", [seen], stored(reasoning="I"), 1)).failures == {"lost": 7}


def test_a_killed_process_may_lose_half_a_second_and_no_more() -> None:
    killed = outcome(viewer(), stored=stored(TEXT[:-10]), page=None, again=None, killed=True)
    assert judge(killed).lost_by_kill == 10
    assert not judge(killed).failures
    worse = judge(replace(killed, stored=stored(TEXT[:-13])))
    assert (worse.lost_by_kill, worse.failures) == (10, {"lost": 3})


@pytest.mark.parametrize(
    ("cause", "name"),
    [(Cause.FROZEN, "cut_frozen"), (Cause.CUT_OFF, "cut_off"), (Cause.UNKNOWN, "cut_short")],
)
def test_an_interrupted_reply_is_counted_by_its_cause(cause: Cause, name: str) -> None:
    told = viewer(statuses=["interrupted"])
    cut = outcome(told, stored=stored(statuses=["interrupted"]), again=told, cause=cause)
    assert judge(cut).interruptions == {name: 1}
    assert judge(cut).failures == ({name: 1} if cause == Cause.UNKNOWN else {})
    assert judge(replace(cut, ended=True)).interruptions == {}
    assert judge(outcome(cause=cause)).interruptions == {}


def call(started: float, ended: float | None) -> dict[str, float | None]:
    return {"started": started, "ended": ended}


@pytest.mark.parametrize(
    ("made", "meets"),
    [
        (call(1.0, 12.0), True),
        (call(1.0, None), True),
        (call(1.0, 9.5), True),  # it may not be stored
        (call(1.0, 8.0), False),
        (call(11.0, 15.0), True),  # of a message that was stored before the drain
        (call(16.0, 17.0), False),  # its next life
    ],
)
def test_an_ending_meets_the_calls_of_its_time(made: dict[str, float | None], *, meets: bool) -> None:
    ending = Ending(Kind.TERM, process=2, pid=102, at=10.0, gone=15.0)
    assert ending.met_call(2, made) is meets
    assert not ending.met_call(1, made)


OWNER, OTHER = UUID(int=1), UUID(int=2)
RUN = UUID(int=7)
BEAT_SECONDS = 3


def looks(*, silent_from: int, fenced_at: int, outage_of_all: tuple[int, int] = (99, 99)) -> Leases:
    """Return a look a second at two workers. The owner's heartbeats end; the other's pause in an outage."""
    leases, numbers, epoch = Leases(), {OWNER: 0, OTHER: 0}, 1
    for second in range(60):
        is_away = outage_of_all[0] <= second < outage_of_all[1]
        if second % BEAT_SECONDS == 0 and not is_away:
            numbers[OTHER] += 1
            numbers[OWNER] += second < silent_from
        epoch = 2 if second >= fenced_at else 1
        rows = [(OWNER, 101, epoch, numbers[OWNER]), (OTHER, 102, 1, numbers[OTHER])]
        leases.add(float(second), rows, [(RUN, OWNER, 1)] if epoch == 1 else [])
    return leases


def cause(leases: Leases, *troubles: Trouble) -> Cause:
    return cause_of(RUN.hex, 0, leases, troubles)


def trouble(kind: Kind, begin: float = 20.0, end: float = 40.0, process: int = 0) -> Trouble:
    return Trouble(kind, frozenset({process}), begin, end)


def test_the_cause_is_the_fault_in_whose_time_the_lease_expired() -> None:
    expired = looks(silent_from=20, fenced_at=33)
    assert cause(expired, trouble(Kind.FREEZE)) == Cause.FROZEN
    assert cause(expired, trouble(Kind.DATABASE), trouble(Kind.FREEZE)) == Cause.FROZEN
    for kind in (Kind.DATABASE, Kind.HOST):
        assert cause(expired, trouble(kind)) == Cause.CUT_OFF
    for kind in (Kind.CLOCK, Kind.SLOW, Kind.REDIS):
        assert cause(expired, trouble(kind)) == Cause.UNKNOWN
    assert cause(expired) == Cause.UNKNOWN
    assert cause(expired, trouble(Kind.FREEZE, process=1)) == Cause.UNKNOWN
    assert cause(expired, trouble(Kind.FREEZE, begin=40.0, end=50.0)) == Cause.UNKNOWN


def test_no_fault_explains_an_early_fence_or_a_missing_one() -> None:
    assert cause(looks(silent_from=20, fenced_at=27), trouble(Kind.FREEZE)) == Cause.UNKNOWN
    assert cause(looks(silent_from=20, fenced_at=99), trouble(Kind.FREEZE)) == Cause.UNKNOWN
    assert cause(Leases(), trouble(Kind.FREEZE)) == Cause.UNKNOWN


def test_a_lease_does_not_expire_while_nobody_can_renew_one() -> None:
    """The rule: after an outage, every observer first waits a full silent period."""
    early = looks(silent_from=20, fenced_at=36, outage_of_all=(20, 34))
    assert early.fenced(RUN.hex) == Silence(17.0, 36.0)
    assert early.expired(RUN.hex) is None
    assert looks(silent_from=20, fenced_at=47, outage_of_all=(20, 34)).expired(RUN.hex)


def test_an_ending_meets_the_runs_of_that_life() -> None:
    leases = looks(silent_from=20, fenced_at=33)
    assert Ending(Kind.KILL, 0, 101, at=20.0).met_run(RUN.hex, leases)
    assert not Ending(Kind.KILL, 0, 101, at=34.0).met_run(RUN.hex, leases)  # it had ended before
    assert not Ending(Kind.KILL, 0, 100, at=20.0).met_run(RUN.hex, leases)  # an earlier life
    assert not Ending(Kind.KILL, 0, 101, at=20.0).met_run(UUID(int=8).hex, leases)


def event(data: str, name: str = "message", position: str = "") -> Event:
    return Event(data, name, position)


def test_a_viewer_holds_positions_against_what_it_has() -> None:
    sighting = Sighting(page=False)
    sighting.take(event('{"response":"one"}', position="3"), own_id=True)
    sighting.take(event('{"response":" two"}', position="7"), own_id=True)
    assert not sighting.wrong_positions
    sighting.take(event('{"response":" three"}', position="9"), own_id=True)  # repeats, or skips
    assert len(sighting.wrong_positions) == 1


def test_a_viewer_remembers_what_stood_there_before_a_reset() -> None:
    sighting = Sighting(page=False)
    sighting.take(event('{"response":"one two"}', position="7"), own_id=True)
    sighting.take(event('{"response":""}', "reset"), own_id=False)
    sighting.take(event('{"response":"one"}', position="3"), own_id=True)
    sighting.take(event('{"response":"","status":"interrupted"}', "done", "3!"), own_id=True)
    sighting.take(event("[DONE]"), own_id=False)
    assert sighting.all_texts == ["one two", "one"]
    assert sighting.statuses == ["interrupted"]
    assert sighting.finished
    assert not sighting.wrong_positions
