"""The messages on a conversation's page, in a fixed number of queries for any tree."""

import time
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from chat.models import Feedback, Message, RunChunk
from chat.models.run import REASONING, TEXT
from chat.views.conversations import thread
from chat.wire.position import Position
from tests.support.message_trees import Tree, conversation, ending, run

pytestmark = [pytest.mark.database, pytest.mark.django_db]
BOUND = 1.5  # seconds, for any tree, on a slow machine; a walk of each for each takes minutes


@pytest.fixture
def tree() -> Tree:
    return Tree(conversation())


def queries(tree: Tree, before: Message | None = None) -> int:
    with CaptureQueriesContext(connection) as captured:
        thread.read(tree.conversation, before)
    return len(captured)


def timed(work: Any) -> Any:
    """Accept one success in five, because other work on the machine takes time as well."""
    took: list[float] = []
    while not took or (took[-1] >= BOUND and len(took) < 5):
        began = time.perf_counter()
        result = work()
        took.append(time.perf_counter() - began)
    assert min(took) < BOUND, took
    return result


def test_an_empty_conversation_shows_nothing(tree: Tree) -> None:
    assert thread.read(tree.conversation) == thread.Thread([], None, None)


def test_versions_are_numbered_by_age_with_their_neighbours(tree: Tree) -> None:
    question, reply = tree.grow(None, 2)
    other_reply, last_reply = tree.versions(question, 2)
    other_question = tree.versions(None, 1)[0]
    tree.show(other_reply)
    versions = [item["versions"] for item in thread.read(tree.conversation).items]
    assert versions == [
        {"index": 1, "count": 2, "previous": None, "next": other_question.pk},
        {"index": 2, "count": 3, "previous": reply.pk, "next": last_reply.pk},
    ]


def test_first_questions_of_other_conversations_are_no_versions(tree: Tree) -> None:
    another = Tree(conversation(tree.conversation.user))
    another.grow(None, 2)
    tree.show(tree.grow(None, 2)[-1])
    assert [item["versions"] for item in thread.read(tree.conversation).items] == [None] * 2


@pytest.mark.parametrize(
    ("status", "may"),
    [("complete", False), ("failed", False), ("running", False)]
    + [(cut, True) for cut in ("stopped", "interrupted", "truncated")],
)
def test_the_actions_of_a_message(tree: Tree, status: str, may: bool) -> None:
    *_, reply = tree.grow(None, 2)
    tree.show(reply)
    run(reply, "stopped")
    run(reply, status)
    question_can, reply_can = (item["can"] for item in thread.read(tree.conversation).items)
    assert question_can == {"edit": True, "regenerate": False, "continue": False}
    assert reply_can == {"edit": False, "regenerate": True, "continue": may}


def test_only_the_last_reply_can_be_continued(tree: Tree) -> None:
    branch = tree.grow(None, 4)
    tree.show(branch[-1])
    for reply in (branch[1], branch[3]):
        run(reply, "stopped")
    assert [item["can"]["continue"] for item in thread.read(tree.conversation).items] == [False] * 3 + [True]
    older = thread.read(tree.conversation, branch[2]).items
    assert [item["can"]["continue"] for item in older] == [False] * 2


def test_a_reply_of_the_greatest_length_cannot_be_continued(tree: Tree) -> None:
    question, _ = tree.grow(None, 2)
    reply = tree.message(question, "x" * 400_000)
    reply.save()
    tree.show(reply)
    run(reply, "truncated")
    assert not thread.read(tree.conversation).items[-1]["can"]["continue"]


@pytest.mark.parametrize("query", range(10))
def test_live_continuation_shows_whole_text_and_position(tree: Tree, query: int) -> None:
    """Also if it ends before one of the queries: then it shows the end, or what its position says."""
    question, _ = tree.grow(None, 2)
    reply = tree.message(question, "old text, ")
    reply.reasoning = "old thought, "
    reply.save()
    tree.show(reply)
    run(reply, "stopped", text_length=10, reasoning_length=13)
    live = run(reply, "running", text_offset=10, reasoning_offset=13)
    for kind, text in ((TEXT, "new text"), (REASONING, "new")):
        RunChunk.objects.create(run=live, kind=kind, start=0, text=text)
    with ending(live, query, "new text.", "new"):
        shown = thread.read(tree.conversation)
    item = shown.items[-1]
    at = Position.parse(item["run"]["position"])
    new = "new text."[: at.text], "new"[: at.reasoning]
    assert (item["text"], item["reasoning"]) == (f"old text, {new[0]}", f"old thought, {new[1]}")
    assert at[:2] == (9, 3) or item["run"]["live"]
    if query == 9:  # it has not ended
        assert item["run"]["position"] == "8.3"
        assert shown.live_run == item["run"]["id"] == live.pk


def test_a_thumb_and_its_reason_are_shown(tree: Tree) -> None:
    *_, reply = tree.grow(None, 2)
    tree.show(reply)
    assert [item["feedback"] for item in thread.read(tree.conversation).items] == [None, None]
    Feedback.objects.create(message=reply, user=tree.conversation.user, up=False, reason="wrong")
    question_item, reply_item = thread.read(tree.conversation).items
    shown = question_item["feedback"], reply_item["feedback"], reply_item["reason"]
    assert shown == (None, "down", "wrong")


def test_the_number_of_queries_does_not_grow(tree: Tree) -> None:
    first = tree.grow(None, 2)
    tree.show(first[-1])
    few = queries(tree)
    for reply in tree.versions(first[0], 5):
        run(reply, "stopped")
        Feedback.objects.create(message=reply, user=tree.conversation.user, up=True)
    branch = tree.grow(first[1], 80)
    for message in branch[1::2]:
        run(message, "complete")
        Feedback.objects.create(message=message, user=tree.conversation.user, up=True)
    tree.show(branch[-1])
    assert few == 4
    assert queries(tree) == few
    assert queries(tree, branch[40]) == few


def test_a_tree_of_any_shape_is_read_and_walked_within_its_time(tree: Tree) -> None:
    deep = tree.grow(None, 10_000)
    wide = tree.versions(deep[0], 5_000)
    roots = tree.versions(None, 5_000)
    tree.show(deep[-1])
    shown = timed(lambda: thread.read(tree.conversation))
    assert [item["id"] for item in shown.items] == [message.pk for message in deep[-50:]]
    tree.show(wide[2_499])
    question, reply = timed(lambda: thread.read(tree.conversation)).items
    assert (question["versions"]["index"], question["versions"]["count"]) == (1, 5_001)
    assert reply["versions"] == {
        "index": 2_501,
        "count": 5_001,
        "previous": wide[2_498].pk,
        "next": wide[2_500].pk,
    }
    assert timed(lambda: thread.read(tree.conversation, deep[30])).items[-1]["id"] == deep[29].pk
    assert timed(lambda: Message.objects.active_leaf_below(deep[0].pk)) == wide[-1].pk
    assert timed(lambda: Message.objects.active_leaf_below(deep[1].pk)) == deep[-1].pk
    assert timed(lambda: Message.objects.active_leaf_below(roots[-1].pk)) == roots[-1].pk


def test_the_database_refuses_a_message_that_is_its_own_parent(tree: Tree) -> None:
    message = tree.grow(None, 1)[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.filter(pk=message.pk).update(parent=message.pk)


def test_a_circle_that_somebody_else_wrote_ends_nothing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """No call can make one; a log that was repaired by hand might hold one."""
    monkeypatch.setattr("chat.models.message.MAX_BRANCH_DEPTH", 1_000)
    one, two = tree.grow(None, 2)
    Message.objects.filter(pk=one.pk).update(parent=two.pk)
    tree.show(two)
    assert len(timed(lambda: thread.read(tree.conversation)).items) <= thread.MESSAGES_PER_PAGE
    assert timed(lambda: Message.objects.active_leaf_below(one.pk)) in (one.pk, two.pk)
