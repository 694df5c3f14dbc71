"""Turns are planned without a lock: what changes the conversation meanwhile makes the plan void."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from chat.catalog.catalog import CurrentCatalog
from chat.conversations.turns import versions
from chat.conversations.turns.commands import (
    Command,
    ContinueReply,
    EditMessage,
    RegenerateReply,
    SendMessage,
)
from chat.conversations.turns.planner import Plan, Planner
from chat.conversations.turns.store import StoredTurn, TurnStore
from chat.db import executor as db
from chat.exceptions import Conflict, ConversationBusy, NotFound, RequestError
from chat.models import Conversation, Message, Run, User, Worker
from chat.ownership import recovery
from chat.ownership.protocol import Lease, Texts
from chat.transfer import merging
from chat.transfer.records import ImportedConversation, ImportedMessage
from chat.transfer.storing import ids_of
from chat.upstream.catalog import Catalog, LlmModel
from tests.support.concurrency import at_once
from tests.support.message_trees import Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
MODEL = LlmModel("@cf/a/b", "B", window=3_000)
KINDS = ["send", "edit", "regenerate", "continue"]
AT_ONCE = 6


@pytest.fixture
def store() -> TurnStore:
    worker = Worker.objects.create(id=uuid.uuid4(), host="here", pid=1)
    return TurnStore(Lease(worker.pk), CurrentCatalog(Catalog([MODEL], MODEL.id)))


@pytest.fixture
def tree() -> Tree:
    """Hold two turns, of which the second reply was stopped."""
    made = Tree(conversation())
    branch = made.grow(None, 4)
    made.show(branch[-1])
    run(branch[-1], "stopped", text_length=len(branch[-1].text))
    return made


def leaf(tree: Tree) -> Message:
    return Message.objects.get(pk=Conversation.objects.get(pk=tree.conversation.pk).active_leaf_id)


def command(kind: str, tree: Tree, key: uuid.UUID | None = None) -> Command:
    reply, key = leaf(tree), key or uuid.uuid4()
    assert reply.parent_id
    commands: dict[str, Command] = {
        "send": SendMessage("And now?", key, conversation=tree.conversation.pk),
        "edit": EditMessage(reply.parent_id, "Else?", key),
        "regenerate": RegenerateReply(reply.pk, key),
        "continue": ContinueReply(reply.pk, key),
    }
    return commands[kind]


def owner(tree: Tree) -> User:
    user = User.objects.with_preferences(tree.conversation.user_id)
    assert user
    return user


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Collect the plans; `meanwhile` acts once, when the first one is made."""
    made: list[Plan] = []
    real = Planner.plan

    def plan(self: Planner, user: User, command: Command) -> Plan:
        assert not db._one_writer.locked()
        assert not connection.in_atomic_block
        made.append(real(self, user, command))
        return made[-1]

    monkeypatch.setattr(Planner, "plan", plan)
    return made


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch, plans: list[Plan]) -> Callable[[Callable[[], Any]], None]:
    """Have the first plan overtaken by what is given."""

    def overtake(act: Callable[[], Any]) -> None:
        made, left = Planner.plan, [act]

        def plan(self: Planner, user: User, command: Command) -> Plan:
            found = made(self, user, command)
            if left:
                left.pop()()
            return found

        monkeypatch.setattr(Planner, "plan", plan)

    return overtake


def stored(tree: Tree) -> tuple[int, int]:
    return tree.conversation.messages.count(), Run.objects.count()


@pytest.mark.parametrize("kind", KINDS)
def test_every_turn_is_planned_outside_the_lock(
    store: TurnStore, tree: Tree, plans: list[Plan], kind: str
) -> None:
    assert store.store(owner(tree), command(kind, tree), queued=False).request
    assert len(plans) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_turns_at_once_one_is_stored(store: TurnStore, tree: Tree, kind: str) -> None:
    before = stored(tree)

    def act() -> StoredTurn | RequestError:
        try:
            return store.store(owner(tree), command(kind, tree), queued=False)
        except RequestError as error:
            return error

    done = at_once(AT_ONCE, act)
    [first] = [each for each in done if isinstance(each, StoredTurn)]
    refused = [each for each in done if isinstance(each, ConversationBusy)]
    assert len(refused) == AT_ONCE - 1, done
    assert {each.run for each in refused} == {first.run.pk}
    added = {"send": 2, "edit": 2, "regenerate": 1, "continue": 0}[kind]
    assert stored(tree) == (before[0] + added, before[1] + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_one_key_many_times_at_once_is_one_turn(store: TurnStore, tree: Tree, kind: str) -> None:
    sent = command(kind, tree)
    done = at_once(AT_ONCE, lambda: store.store(owner(tree), sent, queued=False))
    assert len(done) == AT_ONCE
    assert len({each.run.pk for each in done}) == 1
    assert sum(each.request is not None for each in done) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_deleted_meanwhile_starts_nothing(
    store: TurnStore, tree: Tree, plans: list[Plan], meanwhile: Any, kind: str
) -> None:
    """A question follows the message that is left; nothing else has anything to act on."""
    sent, reply, before = command(kind, tree), leaf(tree), stored(tree)
    target = reply.parent_id if kind == "edit" else reply.pk
    assert target
    meanwhile(lambda: versions.delete_branch(owner(tree), target))
    if kind == "send":
        turn = store.store(owner(tree), sent, queued=False)
        user_message = turn.run.message.parent
        assert user_message
        assert user_message.parent_id == reply.parent_id
        assert len(plans) == 2
        return
    with pytest.raises(NotFound):
        store.store(owner(tree), sent, queued=False)
    assert stored(tree) == before


def test_a_reply_that_gets_a_child_meanwhile_cannot_go_on(
    store: TurnStore, tree: Tree, meanwhile: Any
) -> None:
    def send() -> None:
        turn = store.store(owner(tree), command("send", tree), queued=False)
        turn.run.finish("Done.", "", {"status": Run.Status.COMPLETE}, worker=turn.run.worker_id)

    sent = command("continue", tree)
    meanwhile(send)
    with pytest.raises(Conflict, match="last reply"):
        store.store(owner(tree), sent, queued=False)


def test_a_reply_that_gets_an_imported_child_cannot_go_on(
    store: TurnStore, meanwhile: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file shows another branch, so the shown one stays as it is."""
    tree, then = Tree(conversation()), timezone.now() - timedelta(days=2)
    messages = [
        ImportedMessage("a", None, "user", "Why?", created=then),
        ImportedMessage("b", "a", "assistant", "So.", created=then),
        ImportedMessage("c", "b", "user", "Ah.", created=then),
    ]
    file = ImportedConversation("own", "k", "T", messages, leaf="a", created=then, updated=then)
    ids = ids_of(tree.conversation.pk, file)
    for each in messages[:2]:
        parent = ids[each.parent] if each.parent else None
        tree.conversation.messages.create(pk=ids[each.key], parent_id=parent, role=each.role, text=each.text)
    reply = Message.objects.get(pk=ids["b"])
    tree.show(reply)
    run(reply, "stopped")
    monkeypatch.setattr(merging, "id_of", lambda user, imported: tree.conversation.pk)
    meanwhile(lambda: merging.merge(tree.conversation.user, file, [messages[2]], lambda last: None))
    with pytest.raises(Conflict, match="last reply"):
        store.store(owner(tree), ContinueReply(reply.pk, uuid.uuid4()), queued=False)


def test_late_text_of_a_reply_comes_before_its_continuation(
    store: TurnStore, tree: Tree, plans: list[Plan], meanwhile: Any
) -> None:
    reply, sent = leaf(tree), command("continue", tree)
    [late] = reply.runs.all()
    longer = f"{reply.text}, and more"

    def keep() -> None:
        with transaction.atomic():
            recovery.keep_longer(late.pk, Texts(longer, ""))

    meanwhile(keep)
    turn = store.store(owner(tree), sent, queued=False)
    assert (len(plans), turn.run.text_offset) == (2, len(longer))
    assert turn.request
    assert any(longer in str(message["content"]) for message in turn.request.messages)


@pytest.mark.parametrize("kind", KINDS)
def test_settings_changed_meanwhile_hold_for_the_turn(
    store: TurnStore, tree: Tree, plans: list[Plan], meanwhile: Any, client: Client, kind: str
) -> None:
    rows = Conversation.objects.filter(pk=tree.conversation.pk)
    sent = command(kind, tree)
    client.force_login(owner(tree))
    changed = {"system": "Be brief.", "parameters": {"temperature": 0.5}}
    path = f"/c/{tree.conversation.pk}/settings/"
    meanwhile(lambda: client.post(path, changed, content_type="application/json"))
    turn = store.store(owner(tree), sent, queued=False)
    assert turn.request
    assert turn.request.messages[0] == {"role": "system", "content": "Be brief."}
    assert (rows.get().system, len(plans)) == ("Be brief.", 2)
    assert rows.get().parameters == turn.run.parameters == {"temperature": 0.5}


def test_parameters_changed_meanwhile_are_kept(store: TurnStore, tree: Tree, meanwhile: Any) -> None:
    rows = Conversation.objects.filter(pk=tree.conversation.pk)
    meanwhile(lambda: rows.update(parameters={"temperature": 0.5}))
    store.store(owner(tree), command("send", tree), queued=False)
    assert rows.get().parameters == {"temperature": 0.5}
