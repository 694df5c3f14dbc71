"""SQL that is made once stores what Django's own would."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone

from chat.models import Conversation, Message, Run, Worker
from chat.models.fast_sql import insert, update
from tests.support.message_trees import ASSISTANT, Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def columns(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.fixture
def tree() -> Tree:
    return Tree(conversation())


def test_inserted_rows_read_back_equal(tree: Tree) -> None:
    question = tree.message(None, "Is 100 % “good”? \N{GRINNING FACE}")
    reply = tree.message(question, "Yes; 'quite' good.")
    insert(question, reply)
    worker = Worker.objects.create(id=uuid.uuid4(), host="here", pid=1)
    ended = Run(
        user=tree.conversation.user, conversation=tree.conversation, message=reply, worker=worker,
        fingerprint="f", model="m", max_tokens=5, status="complete", neurons=1.5, stop_requested=True,
        started=timezone.now(), finished=timezone.now(),
    )  # fmt: skip
    insert(ended)
    for row in (question, reply, ended):
        stored = type(row)._default_manager.get(pk=row.pk)
        assert columns(stored) == columns(row)
        assert not row._state.adding
        assert row._state.db == "default"


def test_an_inserted_row_can_be_saved_again(tree: Tree) -> None:
    new = Conversation(user=tree.conversation.user, title="One", model="m")
    insert(new)
    new.title = "Two"
    new.save()
    assert Conversation.objects.get(pk=new.pk).title == "Two"


def test_invalid_rows_are_refused(tree: Tree) -> None:
    [leaf] = tree.grow(None, 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(tree.message(None), leaf)
    assert Message.objects.count() == 1


def test_an_update_changes_the_rows_that_fit_and_says_how_many(tree: Tree) -> None:
    branch = tree.grow(None, 4)
    live, done = run(branch[1], "running"), run(branch[3], "complete")
    later = timezone.now() + timedelta(hours=1)
    fit = {"status": ("queued", "running")}
    assert update(Run, {"finish_reason": "it's 100 %", "started": later}, id=live.pk, **fit) == 1
    assert update(Run, {"finish_reason": "no"}, id=done.pk, **fit) == 0
    assert update(Run, {"finish_reason": "no"}, id=live.pk, worker_id=uuid.uuid4()) == 0
    assert update(Message, {"text": "changed"}, role=ASSISTANT) == 2
    live.refresh_from_db()
    done.refresh_from_db()
    assert (live.finish_reason, live.started, done.finish_reason) == ("it's 100 %", later, "")
    assert [message.text for message in Message.objects.order_by("created")][1::2] == ["changed"] * 2
