"""Storing a turn costs what it has to."""

import re
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.catalog.catalog import CurrentCatalog
from chat.conversations.turns.branch import MAX_PROMPT_MESSAGES
from chat.conversations.turns.commands import (
    Command,
    ContinueReply,
    EditMessage,
    RegenerateReply,
    SendMessage,
)
from chat.conversations.turns.store import TurnStore
from chat.models import Run, User, Worker
from chat.ownership.protocol import Lease
from chat.upstream.catalog import Catalog, LlmModel
from tests.support.message_trees import Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db]
MODEL = LlmModel("@cf/a/b", "B", window=3_000)


@pytest.fixture
def opener() -> TurnStore:
    worker = Worker.objects.create(id=uuid.uuid4(), host="here", pid=1)
    return TurnStore(Lease(worker.pk), CurrentCatalog(Catalog([MODEL], MODEL.id)))


@pytest.fixture
def tree() -> Tree:
    return Tree(conversation())


MANY = re.compile(r"[\d?]+ times: ")  # what Django writes before a statement of `executemany`


def statements(opener: TurnStore, tree: Tree, command: Command) -> list[str]:
    """Return the verbs of the SQL statements that store this turn, without those of the transaction."""
    user = User.objects.with_preferences(tree.conversation.user_id)
    assert user
    with CaptureQueriesContext(connection) as queries:
        opener.store(user, command, queued=False)
    words = [MANY.sub("", query["sql"]).split(maxsplit=1)[0].upper() for query in queries]
    return [word for word in words if word in ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")]


def test_a_question_reads_its_branch_and_writes_each_row_once(opener: TurnStore, tree: Tree) -> None:
    branch = tree.grow(None, 60)
    tree.show(branch[-1])
    question = SendMessage("And now?", uuid.uuid4(), conversation=tree.conversation.pk)
    indexed = ["INSERT", "INSERT"] if connection.vendor == "sqlite" else ["WITH"]
    # The conversation, a live run, the memory, the branch
    wanted = ["SELECT", "SELECT", "SELECT", "WITH", "UPDATE", "INSERT", *indexed, "INSERT"]
    assert statements(opener, tree, question) == wanted


@pytest.mark.parametrize(("kind", "most"), [("edit", 11), ("regenerate", 9), ("continue", 11)])
def test_the_other_turns_look_a_little_longer_but_always_as_long(
    opener: TurnStore, tree: Tree, kind: str, most: int
) -> None:
    branch = tree.grow(None, 60)
    tree.versions(branch[-2], 500)
    tree.show(branch[-1])
    run(branch[-1], "stopped")
    turns = {
        "edit": EditMessage(branch[-2].pk, "Else?", uuid.uuid4()),
        "regenerate": RegenerateReply(branch[-1].pk, uuid.uuid4()),
        "continue": ContinueReply(branch[-1].pk, uuid.uuid4()),
    }
    assert len(statements(opener, tree, turns[kind])) <= most


def test_a_model_that_is_gone_is_followed_by_the_conversations(opener: TurnStore, tree: Tree) -> None:
    branch = tree.grow(None, 2)
    branch[1].model = "@cf/gone/for-good"
    branch[1].save()
    run(branch[1], "interrupted")
    opened = opener.store(tree.conversation.user, ContinueReply(branch[1].pk, uuid.uuid4()), queued=False)
    assert opened.run.model == MODEL.id
    assert opened.run.text_offset == len(branch[1].text)
    assert Run.objects.live().count() == 1


def test_long_branch_is_read_in_one_bounded_query(opener: TurnStore, tree: Tree) -> None:
    """The branch is read before the write lock is taken, and never more of it than is sent."""
    branch = tree.grow(None, 10_000)
    tree.show(branch[-1])
    question = SendMessage("And now?", uuid.uuid4(), conversation=tree.conversation.pk)
    opened = opener.store(tree.conversation.user, question, queued=False)
    assert opened.request is not None
    assert 300 < len(opened.request.messages) <= MAX_PROMPT_MESSAGES + 1
