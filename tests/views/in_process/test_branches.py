"""A branch is forked, deleted and taken back: in-process, on a tree of two versions of each reply."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Q
from django.test import Client
from django.utils import timezone

from chat.conversations.turns import fork as forks
from chat.models import Conversation, Feedback, Message, Run, SearchDocument, User
from chat.views.conversations import thread
from tests.support.message_trees import run

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


class Tree:
    """Q1 - A1 - Q2 - A2, and beside A1 its other version B1; the active leaf is A2."""

    def __init__(self, user: User) -> None:
        self.talk = Conversation.objects.create(user=user, title="Boats", model="m", system="Be brief.")
        self.keys: dict[str, uuid.UUID] = {}
        for name, parent in (("Q1", None), ("B1", "Q1"), ("A1", "Q1"), ("Q2", "A1"), ("A2", "Q2")):
            role = "user" if name.startswith("Q") else "assistant"
            row = Message(
                conversation=self.talk, parent_id=parent and self.keys[parent], role=role, text=f"text {name}"
            )
            row.save()
            self.keys[name] = row.pk
        self.talk.active_leaf_id = self.keys["A2"]
        self.talk.save()

    @property
    def active(self) -> str | None:
        leaf = Conversation.objects.get(pk=self.talk.pk).active_leaf_id
        return next((name for name, key in self.keys.items() if key == leaf), None)

    @property
    def there(self) -> list[str]:
        found = set(Message.objects.filter(deleted=None).values_list("pk", flat=True))
        return [name for name, key in self.keys.items() if key in found]


@pytest.fixture
def tree(alice: User) -> Tree:
    return Tree(alice)


def post(alice_client: Client, key: uuid.UUID, action: str) -> Any:
    return alice_client.post(f"/messages/{key}/{action}/", content_type="application/json")


def live_run(tree: Tree, name: str) -> Run:
    return run(Message.objects.get(pk=tree.keys[name]), "running")


@pytest.mark.parametrize(
    ("name", "there", "active"),
    [
        ("A2", ["Q1", "B1", "A1", "Q2"], "Q2"),
        ("A1", ["Q1", "B1"], "B1"),
        ("B1", ["Q1", "A1", "Q2", "A2"], "A2"),
        ("Q1", [], None),
    ],
)
def test_a_message_goes_with_all_below_it(
    alice_client: Client, tree: Tree, name: str, there: list, active
) -> None:
    before = Conversation.objects.get().updated
    response = post(alice_client, tree.keys[name], "delete")
    assert response.status_code == 200
    assert tree.there == there
    assert tree.active == active
    assert response.json()["leaf"] == (str(tree.keys[active]) if active else None)
    content = alice_client.get(f"/c/{tree.talk.pk}/").content.decode()
    assert f"text {name}" not in content
    assert alice_client.get(f"/messages/{tree.keys[name]}/source/").status_code == 404
    # A turn that was planned before is planned again, and the conversation keeps its place in the list.
    assert timedelta(0) < Conversation.objects.get().updated - before < timedelta(seconds=1)
    assert post(alice_client, tree.keys[name], "undelete").status_code == 200
    assert tree.there == [*tree.keys]
    assert tree.active in ({"B1": "B1"}.get(name, "A2"),)


def test_versions_of_deleted_messages_are_not_counted(alice_client: Client, tree: Tree) -> None:
    counts = []
    for _ in range(2):
        counts.append(
            [item["versions"] and item["versions"]["count"] for item in thread.read(tree.talk).items]
        )
        post(alice_client, tree.keys["B1"], "delete")
    assert counts == [[None, 2, None, None], [None, None, None, None]]


def test_an_undo_brings_back_what_went_then_and_no_more(alice_client: Client, tree: Tree) -> None:
    post(alice_client, tree.keys["A2"], "delete")
    post(alice_client, tree.keys["A1"], "delete")
    assert post(alice_client, tree.keys["A2"], "undelete").status_code == 404  # what it hangs on is deleted
    assert post(alice_client, tree.keys["A1"], "undelete").status_code == 200
    assert tree.there == ["Q1", "B1", "A1", "Q2"]
    assert post(alice_client, tree.keys["A2"], "undelete").status_code == 200
    assert tree.active == "A2"


@pytest.mark.parametrize(("days", "status"), [(1, 200), (29.99, 404)])
def test_an_undo_is_possible_as_long_as_that_of_a_conversation(
    alice_client: Client, tree: Tree, days, status: int
) -> None:
    post(alice_client, tree.keys["A1"], "delete")
    Message.objects.exclude(deleted=None).update(deleted=timezone.now() - timedelta(days=days))
    assert post(alice_client, tree.keys["A1"], "undelete").status_code == status


def test_a_form_offers_to_undo_the_deletion(alice_client: Client, tree: Tree) -> None:
    response = alice_client.post(f"/messages/{tree.keys['A1']}/delete/", {}, follow=True)
    content = response.content.decode()
    assert response.redirect_chain == [(f"/c/{tree.talk.pk}/?removed={tree.keys['A1']}", 303)]
    assert f'action="/messages/{tree.keys["A1"]}/undelete/"' in content
    undone = alice_client.post(f"/messages/{tree.keys['A1']}/undelete/", {})
    assert undone["Location"] == f"/c/{tree.talk.pk}/#m-{tree.keys['A1']}"
    for other in (tree.keys["A1"], uuid.uuid4(), "x"):
        assert "/undelete/" not in alice_client.get(
            f"/c/{tree.talk.pk}/?removed={other}"
        ).content.decode().replace(f'data-url-undelete="/c/{uuid.UUID(int=0)}/undelete/"', "")


def test_a_reply_that_is_being_written_there_is_stopped(alice_client: Client, tree: Tree) -> None:
    live = live_run(tree, "A2")
    post(alice_client, tree.keys["B1"], "delete")
    assert not Run.objects.get().stop_requested
    post(alice_client, tree.keys["Q2"], "delete")
    assert Run.objects.get().stop_requested
    assert alice_client.get(f"/runs/{live.pk}/stream/").status_code == 404


def test_a_fork_is_the_path_to_a_message(alice_client: Client, alice: User, tree: Tree) -> None:
    response = post(alice_client, tree.keys["Q2"], "fork")
    assert response.status_code == 201
    made = Conversation.objects.get(pk=response.json()["conversation"])
    path = [*reversed([*Message.objects.ancestors(made.active_leaf_id, 9)])]
    copies = [Message.objects.get(pk=step.id) for step in path]
    assert [row.text for row in copies] == ["text Q1", "text A1", "text Q2"]
    assert made.messages.count() == 3
    assert not {row.pk for row in copies} & set(tree.keys.values())
    assert (made.title, made.system, made.user) == ("Boats (2)", "Be brief.", alice)
    assert copies[0].created == Message.objects.get(pk=tree.keys["Q1"]).created
    indexed = SearchDocument.objects.filter(
        Q(message__in=[row.pk for row in copies]) | Q(conversation=made.pk)
    )
    assert indexed.count() == 4
    assert tree.active == "A2"
    assert alice_client.post(f"/messages/{tree.keys['B1']}/fork/", {}).status_code == 303


def test_a_fork_shows_models_and_feedback_and_adds_no_usage(
    alice_client: Client, alice: User, tree: Tree
) -> None:
    Message.objects.filter(pk=tree.keys["A1"]).update(model="@cf/meta/llama")
    Feedback.objects.create(message_id=tree.keys["A1"], user=alice, up=False, reason="wrong")
    Run.objects.filter(pk=live_run(tree, "A1").pk).update(status="complete", finished=timezone.now())
    made = post(alice_client, tree.keys["Q2"], "fork").json()["conversation"]
    reply = thread.read(Conversation.objects.get(pk=made)).items[1]
    assert (reply["model"], reply["feedback"], reply["reason"]) == ("@cf/meta/llama", "down", "wrong")
    assert reply["run"] is None
    assert (Run.objects.count(), Feedback.objects.count()) == (1, 2)
    assert str(Feedback.objects.exclude(message=tree.keys["A1"]).get().conversation) == made


def test_a_long_fork_lets_others_write_and_is_listed_when_whole(
    alice_client: Client, alice: User, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "FORK_BATCH_CHARS", 1)
    listed: list[int] = []
    monkeypatch.setattr(
        "chat.db.executor.time.sleep", lambda _: listed.append(Conversation.objects.listed(alice).count())
    )
    assert post(alice_client, tree.keys["Q2"], "fork").status_code == 201
    assert listed == [1, 1, 1, 1, 2]


def test_a_fork_that_is_too_long_or_still_grows_is_refused(
    alice_client: Client, tree: Tree, monkeypatch
) -> None:
    live = live_run(tree, "A2")
    busy = post(alice_client, tree.keys["A2"], "fork")
    assert (busy.status_code, busy.json()["error"]["run"]) == (409, str(live.pk))
    monkeypatch.setattr(forks, "MAX_FORK_MESSAGES", 2)
    assert post(alice_client, tree.keys["Q2"], "fork").status_code == 413
    monkeypatch.setattr(forks, "MAX_FORK_MESSAGES", 3)
    monkeypatch.setattr(forks, "MAX_FORK_CHARS", 8)
    assert post(alice_client, tree.keys["Q2"], "fork").status_code == 413
    assert Conversation.objects.count() == 1


@pytest.mark.parametrize("action", ["fork", "delete", "undelete"])
def test_a_field_that_is_none_is_refused(alice_client: Client, tree: Tree, action: str) -> None:
    path = f"/messages/{tree.keys['A2']}/{action}/"
    assert alice_client.post(path, {"all": True}, content_type="application/json").status_code == 400
    assert tree.there == [*tree.keys]


def test_the_menu_says_how_much_a_deletion_takes_away(alice_client: Client, tree: Tree) -> None:
    part = {"X-Requested-With": "fetch"}
    words = {
        name: alice_client.get(f"/messages/{tree.keys[name]}/actions/", headers=part).content.decode()
        for name in ("A2", "Q2", "A1")
    }
    assert "Delete this message" in words["A2"]
    assert "Delete this and 1 message after it" in words["Q2"]
    assert "Delete this and 2 messages after it" in words["A1"]
    assert "<main" in alice_client.get(f"/messages/{tree.keys['A1']}/actions/").content.decode()


@pytest.mark.parametrize(
    ("title", "copies"),
    [
        ("Boats", ["Boats (2)", "Boats (3)"]),
        ("Boats (9)", ["Boats (2)", "Boats (3)"]),
        ("Year (2026)", ["Year (2026) (2)", "Year (2026) (3)"]),
        ("x" * 80, ["x" * 76 + " (2)", "x" * 76 + " (3)"]),
        ("(2)", ["(2) (2)", "(2) (3)"]),
    ],
)
def test_a_fork_has_a_number_after_its_title(
    alice_client: Client, tree: Tree, title: str, copies: list[str]
) -> None:
    Conversation.objects.filter(pk=tree.talk.pk).update(title=title)
    other = User.objects.create_user("bob")
    Conversation.objects.create(user=other, title=copies[0], model="m")
    found = []
    for _ in copies:
        made = post(alice_client, tree.keys["A2"], "fork").json()
        found.append(Conversation.objects.get(pk=made["conversation"]).title)
    assert found == copies
