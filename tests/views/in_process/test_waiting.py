"""Answers for calls that wait, and the claim of the reply that goes on, on the rows alone."""

import math
import uuid
from datetime import timedelta
from typing import Any

import pytest

from chat.catalog.catalog import current
from chat.conversations.turns import waiting
from chat.conversations.turns.planner import Planner
from chat.conversations.turns.waiting import ClaimedRun
from chat.engine.generation import tool_messages
from chat.exceptions import Conflict, NotFound
from chat.models import Conversation, Message, Run, RunChunk, Step, User, Worker
from chat.ownership import recovery
from chat.ownership.protocol import Lease
from tests.support.message_trees import Tree, conversation, run
from tests.support.steps import step_of

pytestmark = [pytest.mark.database, pytest.mark.django_db]
HOST = "read_page web.example"


@pytest.fixture
def row() -> Run:
    """A reply that waits for two calls, and has written something."""
    model = next(iter(current.get())).id
    talk = conversation()
    Conversation.objects.filter(pk=talk.pk).update(model=model)
    *_, reply = Tree(talk).grow(None, 2)
    made = run(reply, "waiting", tools=["web_search"], suspended={"messages": [], "links": []})
    Run.objects.filter(pk=made.pk).update(model=model)
    RunChunk.objects.create(run=made, kind="t", start=0, text="I look.")
    for number in (1, 2):
        step_of(made, number, "read_page", state="waiting", permission=HOST, finished=None)
    return made


def claimed(row: Run) -> ClaimedRun | None:
    lease = Lease(Worker.objects.create(id=uuid.uuid4(), host="here", pid=1).pk)
    found = waiting.claim(row.pk, lease, current.get(), queued=False, ranked=None)
    assert not isinstance(found, tuple)
    return found


def test_a_reply_is_claimed_once_all_calls_are_answered(row: Run) -> None:
    assert claimed(row) is None
    waiting.answer(row, 1, Step.Answer.ONCE)
    assert claimed(row) is None
    assert waiting.decline_late() == []
    waiting.answer(row, 2, Step.Answer.DECLINED)
    assert waiting.decline_late() == [row.pk]
    found = claimed(row)
    assert found
    assert (found.text, found.run.status) == ("I look.", "running")
    assert claimed(row) is None


def test_an_answer_for_the_chat_holds_for_calls_alike_only(row: Run) -> None:
    other = step_of(row, 3, "read_page", state="waiting", permission="read_page other.example", finished=None)
    waiting.answer(row, 2, Step.Answer.CONVERSATION)
    answers = dict(Step.objects.filter(run=row).values_list("number", "answer"))
    assert answers == {1: "conversation", 2: "conversation", other.number: ""}
    assert Conversation.objects.get().allowed_calls == [HOST]
    waiting.answer(row, 1, Step.Answer.CONVERSATION)
    assert Conversation.objects.get().allowed_calls == [HOST]


@pytest.mark.parametrize("state", ["running", "done", "failed", "stopped"])
def test_only_a_call_that_waits_is_answered(row: Run, state: str) -> None:
    Step.objects.filter(number=1).update(state=state)
    with pytest.raises(Conflict):
        waiting.answer(row, 1, Step.Answer.CONVERSATION)
    with pytest.raises(NotFound):
        waiting.answer(row, 7, Step.Answer.ONCE)
    assert Conversation.objects.get().allowed_calls == []


def test_a_reply_whose_model_is_gone_ends_and_says_so(row: Run) -> None:
    Step.objects.update(answer="once")
    Run.objects.update(model="@cf/gone/gone")
    Conversation.objects.update(model="@cf/gone/gone")
    assert claimed(row) is None
    row.refresh_from_db()
    assert (row.status, row.error_code, row.suspended) == ("failed", "invalid", None)
    assert "isn’t available here" in row.error_message
    assert Message.objects.get(pk=row.message_id).text == "I look."


def test_another_model_that_goes_on_is_named(row: Run) -> None:
    Step.objects.update(answer="once")
    Run.objects.update(model="@cf/gone/gone")
    found = claimed(row)
    assert found
    row.refresh_from_db()
    assert (row.answered_by, row.fallback_reason) == (found.request.model.id, "unknown_model")


def test_a_late_reader_claims_no_reply_that_waits_again(row: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has gone on with it meanwhile, and the model has called again."""
    Step.objects.update(answer="once")
    go_on = Planner.go_on

    def slow(planner: Planner, run: Run) -> Any:
        Run.objects.update(waited_seconds=3.0)
        step_of(row, 3, "read_page", turn=2, state="waiting", permission=HOST, finished=None)
        return go_on(planner, run)

    monkeypatch.setattr(Planner, "go_on", slow)
    assert claimed(row) is None
    row.refresh_from_db()
    assert (row.status, row.worker) == ("waiting", None)


def test_a_claimed_reply_whose_process_is_lost_waits_again(row: Run) -> None:
    Step.objects.update(answer="once")
    step_of(row, 3, turn=1, call="asks for nothing")
    found = claimed(row)
    assert found
    recovery.interrupt(found.run)
    row.refresh_from_db()
    assert (row.status, row.worker, row.waited_seconds) == ("waiting", None, found.run.waited_seconds)
    again = claimed(row)
    assert again
    assert again.run.waited_seconds < found.run.waited_seconds + 60
    Step.objects.filter(number=1).update(state="running")
    recovery.interrupt(again.run)
    row.refresh_from_db()
    assert (row.status, row.suspended) == ("interrupted", None)


def test_a_claimed_reply_that_was_stopped_does_not_wait_again(row: Run) -> None:
    Step.objects.update(answer="once")
    found = claimed(row)
    assert found
    Run.objects.update(stop_requested=True)
    recovery.interrupt(found.run)
    row.refresh_from_db()
    assert row.status == "interrupted"


def test_those_that_nobody_answers_hold_up_no_others(row: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MAX_SWEPT", 2)
    Step.objects.update(answer="once")
    for _ in range(3):
        *_, reply = Tree(conversation()).grow(None, 2)
        older = run(reply, "waiting", created=row.created - timedelta(hours=1))
        step_of(older, 1, "read_page", state="waiting", permission=HOST, finished=None)
    assert waiting.decline_late() == [row.pk]
    Run.objects.exclude(pk=row.pk).update(created=row.created - timedelta(days=2))
    Step.objects.filter(run=older).update(created=row.created - timedelta(days=2))
    assert waiting.decline_late() == [older.pk, row.pk]
    assert Step.objects.get(run=older).answer == "declined"
    assert Step.objects.filter(answer="").count() == 2


def test_a_disabled_persons_reply_goes_on_no_more(row: Run) -> None:
    Step.objects.update(answer="once")
    User.objects.update(is_active=False)
    assert claimed(row) is None
    row.refresh_from_db()
    assert (row.status, Message.objects.get(pk=row.message_id).text) == ("stopped", "I look.")
    assert set(Step.objects.values_list("state", flat=True)) == {"stopped"}


def test_what_a_server_sends_can_be_stored() -> None:
    sent = [{"text": "a\x00b\ud800", "deep\x00": [{"c": "\x00"}, 1, None, True, math.nan, -math.inf, 0.5]}]
    stored = [{"text": "ab�", "deep": [{"c": ""}, 1, None, True, None, None, 0.5]}]
    assert tool_messages.storable(sent) == stored
