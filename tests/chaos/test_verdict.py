"""The checking itself: it sees each kind of broken promise, and nothing where none is broken."""

from dataclasses import replace

import pytest

from chat.wire.sse import Event

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


def test_a_reply_interrupted_without_cause_is_counted() -> None:
    interrupted = stored(statuses=["interrupted"])
    told = viewer(statuses=["interrupted"])
    assert judge(outcome(told, stored=interrupted, again=told)).cut_short == 1
    assert judge(outcome(told, stored=interrupted, again=told, ended=True)).cut_short == 0


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
