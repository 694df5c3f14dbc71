"""The shape of a conversation, also one that the log forbids."""

import uuid
from datetime import UTC, datetime, timedelta

from chat.admin.transcript import Tree

A, B, C, D, E = (uuid.UUID(int=n) for n in range(1, 6))
START = datetime(2026, 1, 1, tzinfo=UTC)


def tree(*parents: tuple[uuid.UUID, uuid.UUID | None], picked: uuid.UUID | None = None) -> Tree:
    late = START + timedelta(days=1)
    rows = [
        (key, parent, START + timedelta(seconds=n), late if key == picked else None)
        for n, (key, parent) in enumerate(parents)
    ]
    return Tree(rows)


def test_a_branch_goes_from_the_root_to_its_leaf() -> None:
    assert tree((A, None), (B, A), (C, B), (D, A)).branch(C) == [A, B, C]


def test_through_a_message_goes_on_to_the_newest() -> None:
    assert tree((A, None), (B, A), (C, A), (D, C), (E, C)).through(A) == [A, C, E]


def test_through_a_message_goes_on_to_what_was_picked() -> None:
    assert tree((A, None), (B, A), (C, A), (D, B), picked=B).through(None) == [A, B, D]


def test_versions_have_one_parent_and_ends_have_no_children() -> None:
    shape = tree((A, None), (B, A), (C, A), (D, None))
    assert shape.versions(B) == [B, C]
    assert shape.versions(D) == [A, D]
    assert shape.ends == 3


def test_a_message_whose_parent_is_elsewhere_begins_a_branch() -> None:
    assert tree((B, A), (C, B)).branch(C) == [B, C]


def test_a_circle_ends() -> None:
    shape = tree((A, C), (B, A), (C, B))
    assert shape.branch(C) == [A, B, C]
    assert shape.through(B) == [C, A, B]


def test_nothing_has_no_branch() -> None:
    assert tree().through(None) == []
