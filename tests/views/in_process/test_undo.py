"""A change of several conversations is undone with a token, as long as nothing else changed them."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.conversations import changes
from chat.models import Conversation, Tag, User
from tests.support.clients import as_

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
TRASHED = ("restore",)
COOKIE_BYTES = 4_096


def ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


@pytest.fixture
def three(alice: User) -> list[str]:
    """One that is pinned, one that is archived, and one that is neither; two of them have the tag "red"."""
    red = Tag.objects.create(user=alice, name="Red", folded="red")
    made = []
    for fields in ({"pinned_at": ago(2)}, {"archived_at": ago(3)}, {}):
        row = Conversation.objects.create(user=alice, title="t", model="m", updated=ago(4), **fields)
        made.append(str(row.pk))
        if len(made) < 3:
            row.tags.add(red)
    return made


def change(alice_client: Client, action: str, keys: list[str], **more: Any) -> Any:
    body = {"action": action, "conversations": keys, **more}
    return alice_client.post("/conversations/", body, content_type="application/json")


def take_back(alice_client: Client, signed: str) -> Any:
    return alice_client.post(
        "/conversations/", {"action": "undo", "undo": signed}, content_type="application/json"
    )


def stored() -> list[Any]:
    columns = ("pk", "pinned_at", "archived_at", "deleted", "updated", "tags__name")
    return list(Conversation.objects.order_by("pk").values_list(*columns))


@pytest.mark.parametrize("action", [*changes.CHANGES[:-1], "tag", "untag"])
def test_an_undone_change_leaves_all_as_it_was(alice_client: Client, three: list[str], action: str) -> None:
    if action in TRASHED:
        Conversation.objects.update(deleted=ago(1))
    before = stored()
    done = change(alice_client, action, three, **({"tag": "Red"} if "tag" in action else {}))
    assert done.status_code == 200
    assert stored() != before
    undone = take_back(alice_client, done.json()["undo"])
    assert undone.status_code == 200, undone.content
    assert stored() == before


def test_a_deletion_for_good_has_no_undo(alice_client: Client, three: list[str]) -> None:
    change(alice_client, "delete", three)
    assert change(alice_client, "purge", three).json()["undo"] == ""


def test_later_changes_stay(alice_client: Client, three: list[str]) -> None:
    done = change(alice_client, "archive", three)
    change(alice_client, "pin", three[2:])
    undone = take_back(alice_client, done.json()["undo"])
    assert sorted(undone.json()["conversations"]) == sorted(three[:2])
    assert Conversation.objects.get(pk=three[2]).pinned_at
    assert take_back(alice_client, done.json()["undo"]).status_code == 409


def test_an_undo_pins_no_more_than_may_be_pinned(
    alice_client: Client, alice: User, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_PINNED_CONVERSATIONS", 1)
    done = change(alice_client, "archive", three[:1])
    assert change(alice_client, "pin", three[2:]).status_code == 200
    assert take_back(alice_client, done.json()["undo"]).status_code == 409
    assert Conversation.objects.pinned(alice).count() == 1


def test_only_who_did_it_undoes_it_and_only_for_a_while(
    alice_client: Client, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = change(alice_client, "archive", three).json()["undo"]
    before = stored()
    stranger = as_(User.objects.create_user("bob"))
    wrong = [take_back(stranger, signed), take_back(alice_client, signed[:-1]), take_back(alice_client, "x")]
    monkeypatch.setattr(changes, "TOKEN_SECONDS", -1)
    wrong += [take_back(alice_client, signed)]
    assert [response.status_code for response in wrong] == [409] * 4
    assert take_back(alice_client, "").status_code == 400
    assert stored() == before


def test_a_page_offers_to_undo_without_scripts(alice_client: Client, alice: User) -> None:
    keys = [uuid.uuid4() for _ in range(100)]
    Conversation.objects.bulk_create(
        Conversation(pk=key, user=alice, title="t", model="m", pinned_at=ago(2) if place < 50 else None)
        for place, key in enumerate(keys)
    )
    before = stored()
    body = {"action": "archive", "conversations": keys, "page": "list", "tag": ""}
    response = alice_client.post("/conversations/", body, follow=True)
    assert "100 chats archived." in response.content.decode()
    cookie = alice_client.cookies["undo"]
    assert len(cookie.OutputString()) < COOKIE_BYTES
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/conversations/", True, "Strict")
    assert response.context["undo"]
    assert "Undo" in response.content.decode()
    body = {"action": "undo", "undo": response.context["undo"], "page": "list"}
    response = alice_client.post("/conversations/", body, follow=True)
    assert response.redirect_chain == [("/conversations/?done=undo&number=100", 303)]
    assert "Undone for 100 chats." in response.content.decode()
    assert not response.context["undo"]
    assert stored() == before


def test_a_page_offers_to_undo_what_it_tells_about(alice_client: Client, three: list[str]) -> None:
    body = {"action": "archive", "conversations": three, "page": "list"}
    first = alice_client.post("/conversations/", body)["Location"]
    assert alice_client.get(first).context["undo"]
    alice_client.post("/conversations/", body | {"action": "unarchive"})
    assert not alice_client.get(first).context["undo"]
    assert not alice_client.get("/conversations/").context["undo"]


def test_a_used_undo_is_not_offered_again(alice_client: Client, three: list[str]) -> None:
    first = alice_client.post(
        "/conversations/", {"action": "archive", "conversations": three, "page": "list"}
    )["Location"]
    offered = alice_client.get(first).context["undo"]
    alice_client.post("/conversations/", {"action": "undo", "undo": offered, "page": "list"})
    again = alice_client.get(first).context  # where Back leads
    assert (again["undo"], again["done"]) == ("", "")
    second = alice_client.post("/conversations/", {"action": "pin", "conversations": three, "page": "list"})[
        "Location"
    ]
    assert alice_client.get(second).context["done"] == "3 chats pinned."
