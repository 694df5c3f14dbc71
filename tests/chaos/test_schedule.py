"""Schedules: the same from the same seed, and of faults that may come together."""

from itertools import combinations

import pytest

from .faults import ENDINGS, STORAGE, How, Kind, Reach
from .schedule import MARGIN_SECONDS, Size, faults, replies
from .upstream import name_in, question, text_of

KINDS = [kind for kind in Kind if kind != Kind.HOST]
SIZE = Size(faults=8)


def test_a_seed_gives_the_same_round_each_time() -> None:
    for seed in range(20):
        assert replies(seed, SIZE) == replies(seed, SIZE)
        assert faults(seed, SIZE, KINDS, 3, shared=False) == faults(seed, SIZE, KINDS, 3, shared=False)
    assert faults(1, SIZE, KINDS, 3, shared=False) != faults(2, SIZE, KINDS, 3, shared=False)


def test_all_kinds_and_ways_come() -> None:
    found = [fault for seed in range(200) for fault in faults(seed, SIZE, KINDS, 3, shared=False)]
    assert {fault.kind for fault in found} == set(KINDS)
    assert {fault.how for fault in found if fault.kind == Kind.DATABASE} == set(How)
    assert {fault.seconds for fault in found if fault.kind == Kind.DATABASE} == {5.0, 12.0, 20.0, 60.0}
    assert {fault.process for fault in found if fault.kind == Kind.DATABASE} == {None, 0, 1, 2}


def test_hosts_are_cut_off_alone_and_for_all_times() -> None:
    rounds = [faults(seed, SIZE, list(Kind), 6, shared=False, hosts=3) for seed in range(200)]
    found = [fault for each in rounds for fault in each if fault.kind == Kind.HOST]
    assert {fault.process for fault in found} == {0, 1, 2}
    assert {fault.how for fault in found} == set(Reach)
    for each in rounds:
        for one, other in combinations(each, 2):
            if one.kind == Kind.HOST and other.kind in ENDINGS | STORAGE:
                assert max(one.at, other.at) >= min(one.end, other.end)


@pytest.mark.parametrize("shared", [True, False])
def test_no_process_ends_while_nothing_can_be_stored(shared: bool) -> None:
    for seed in range(200):
        for one, other in combinations(faults(seed, SIZE, KINDS, 3, shared=shared), 2):
            if {one.kind, other.kind} & ENDINGS and {one.kind, other.kind} & STORAGE:
                apart = max(one.at, other.at) - min(one.end, other.end) >= MARGIN_SECONDS
                assert apart or not (shared or one.touches(other))


def test_each_reply_has_a_text_of_its_own() -> None:
    found = replies(7, SIZE)
    assert len({text_of(reply) for reply in found}) == len(found)
    assert [name_in(question(reply)) for reply in found] == [reply.name for reply in found]
