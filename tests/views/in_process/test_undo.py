"""A change of several conversations is undone with a token, as long as nothing else changed them."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.arrangement import changes, undo
from chat.models import Conversation, Tag, User

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


def change(page: Client, action: str, keys: list[str], **more: Any) -> Any:
    body = {"action": action, "conversations": keys, **more}
    return page.post("/conversations/", body, content_type="application/json")


def take_back(page: Client, signed: str) -> Any:
    return page.post("/conversations/", {"action": "undo", "undo": signed}, content_type="application/json")


def stored() -> list[Any]:
    columns = ("pk", "pinned_at", "archived_at", "deleted", "updated", "tags__name")
    return list(Conversation.objects.order_by("pk").values_list(*columns))


@pytest.mark.parametrize("action", [*changes.CHANGES[:-1], "tag", "untag"])
def test_an_undone_change_leaves_all_as_it_was(page: Client, three: list[str], action: str) -> None:
    if action in TRASHED:
        Conversation.objects.update(deleted=ago(1))
    before = stored()
    done = change(page, action, three, **({"tag": "Red"} if "tag" in action else {}))
    assert done.status_code == 200
    assert stored() != before
    undone = take_back(page, done.json()["undo"])
    assert undone.status_code == 200, undone.content
    assert stored() == before


def test_a_deletion_for_good_has_no_undo(page: Client, three: list[str]) -> None:
    change(page, "delete", three)
    assert change(page, "purge", three).json()["undo"] == ""


def test_what_was_changed_since_stays(page: Client, three: list[str]) -> None:
    done = change(page, "archive", three)
    change(page, "pin", three[2:])
    undone = take_back(page, done.json()["undo"])
    assert sorted(undone.json()["conversations"]) == sorted(three[:2])
    assert Conversation.objects.get(pk=three[2]).pinned_at
    assert take_back(page, done.json()["undo"]).status_code == 409


def test_an_undo_pins_no_more_than_may_be_pinned(
    page: Client, alice: User, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_PINNED_CONVERSATIONS", 1)
    done = change(page, "archive", three[:1])
    assert change(page, "pin", three[2:]).status_code == 200
    assert take_back(page, done.json()["undo"]).status_code == 409
    assert Conversation.objects.pinned(alice).count() == 1


def test_only_who_did_it_undoes_it_and_only_for_a_while(
    page: Client, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = change(page, "archive", three).json()["undo"]
    before = stored()
    stranger = Client()
    stranger.force_login(User.objects.create_user("bob"))
    wrong = [take_back(stranger, signed), take_back(page, signed[:-1]), take_back(page, "x")]
    monkeypatch.setattr(undo, "TOKEN_SECONDS", -1)
    wrong += [take_back(page, signed)]
    assert [answer.status_code for answer in wrong] == [409] * 4
    assert take_back(page, "").status_code == 400
    assert stored() == before


def test_a_page_offers_to_undo_without_scripts(page: Client, alice: User) -> None:
    keys = [uuid.uuid4() for _ in range(100)]
    Conversation.objects.bulk_create(
        Conversation(pk=key, user=alice, title="t", model="m", pinned_at=ago(2) if place < 50 else None)
        for place, key in enumerate(keys)
    )
    before = stored()
    body = {"action": "archive", "conversations": keys, "page": "list", "tag": ""}
    answer = page.post("/conversations/", body, follow=True)
    assert "100 conversations archived." in answer.content.decode()
    cookie = page.cookies["undo"]
    assert len(cookie.OutputString()) < COOKIE_BYTES
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/conversations/", True, "Strict")
    assert answer.context["undo"]
    assert "Undo" in answer.content.decode()
    body = {"action": "undo", "undo": answer.context["undo"], "page": "list"}
    answer = page.post("/conversations/", body, follow=True)
    assert answer.redirect_chain == [("/conversations/?done=undo&number=100", 303)]
    assert "Undone for 100 conversations." in answer.content.decode()
    assert not answer.context["undo"]
    assert stored() == before


def test_a_page_offers_to_undo_what_it_tells_about(page: Client, three: list[str]) -> None:
    body = {"action": "archive", "conversations": three, "page": "list"}
    first = page.post("/conversations/", body)["Location"]
    assert page.get(first).context["undo"]
    page.post("/conversations/", body | {"action": "unarchive"})
    assert not page.get(first).context["undo"]
    assert not page.get("/conversations/").context["undo"]


def test_a_used_undo_is_not_offered_again(page: Client, three: list[str]) -> None:
    first = page.post("/conversations/", {"action": "archive", "conversations": three, "page": "list"})[
        "Location"
    ]
    offered = page.get(first).context["undo"]
    page.post("/conversations/", {"action": "undo", "undo": offered, "page": "list"})
    again = page.get(first).context  # where Back leads
    assert (again["undo"], again["done"]) == ("", "")
    second = page.post("/conversations/", {"action": "pin", "conversations": three, "page": "list"})[
        "Location"
    ]
    assert page.get(second).context["done"] == "3 conversations pinned."
