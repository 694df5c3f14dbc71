"""Pinned, archived, tagged, deleted and restored: several conversations in one request."""

import re
import uuid
from datetime import timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from chat.conversations import changes, tags
from chat.models import Conversation, Tag, User
from chat.views.conversations.conversation_pages import CONVERSATIONS_PER_PAGE
from chat.views.conversations.sidebar import sidebar

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LISTS = ("/conversations/", "/conversations/archive/", "/conversations/trash/")


def made(user: User, *titles: str, **fields: Any) -> list[Conversation]:
    return [Conversation.objects.create(user=user, title=title, model="m", **fields) for title in titles]


def change(alice_client: Client, action: str, *rows: Any, **more: Any) -> Any:
    body = {"action": action, "conversations": [str(getattr(row, "pk", row)) for row in rows], **more}
    return alice_client.post("/conversations/", body, content_type="application/json")


def shown(alice_client: Client, path: str) -> list[str]:
    """The titles on a page of a list."""
    return [item["title"] for group in alice_client.get(path).context["groups"] for item in group["items"]]


def stored() -> list[Any]:
    columns = ("pk", "pinned_at", "archived_at", "deleted", "updated")
    return [*Conversation.objects.order_by("pk").values_list(*columns), *Tag.objects.values_list("name")]


def test_a_conversation_is_in_one_list_at_a_time(alice_client: Client, alice: User) -> None:
    red, _blue = made(alice, "Red", "Blue")
    places = []
    for action in (
        "archive",
        "pin",
        "unpin",
        "delete",
        "restore",
        "archive",
        "delete",
        "restore",
        "unarchive",
    ):
        assert change(alice_client, action, red).status_code == 200
        places.append([path for path in LISTS if "Red" in shown(alice_client, path)])
    listed, archived, deleted = ([path] for path in LISTS)
    assert places == [archived, listed, listed, deleted, listed, archived, deleted, archived, listed]
    assert shown(alice_client, LISTS[0]) == ["Blue", "Red"]
    assert Conversation.objects.get(pk=red.pk).updated == red.updated


def test_pinned_ones_come_first_and_the_last_pinned_first(alice_client: Client, alice: User) -> None:
    rows = made(alice, "1", "2", "3")
    change(alice_client, "pin", rows[0])
    change(alice_client, "pin", rows[1])
    groups = sidebar(alice, ZoneInfo("UTC")).groups
    assert [[item["title"] for item in group["items"]] for group in groups] == [["2", "1"], ["3"]]
    assert [group["key"] for group in groups] == ["pinned", "today"]
    older = sidebar(alice, ZoneInfo("UTC"), before=rows[2])
    assert older.groups == []


def test_several_are_changed_at_once_without_missing_ones(alice_client: Client, alice: User) -> None:
    rows = made(alice, "1", "2", "3")
    change(alice_client, "delete", rows[0])
    strangers = made(User.objects.create_user("bob"), "his")
    response = change(alice_client, "archive", *rows, *strangers, uuid.uuid4())
    assert set(response.json()["conversations"]) == {str(rows[1].pk), str(rows[2].pk)}
    assert response.json()["message"] == "2 chats archived."
    assert not Conversation.objects.get(pk=strangers[0].pk).archived_at


@pytest.mark.parametrize("action", changes.ACTIONS)
def test_nobody_changes_what_is_not_theirs(alice_client: Client, action: str) -> None:
    bob = User.objects.create_user("bob")
    theirs = made(bob, "1") + made(bob, "2", deleted=timezone.now())
    before = stored()
    response = change(alice_client, action, *theirs, tag="red")
    missing = change(alice_client, action, uuid.uuid4(), tag="red")
    assert (response.status_code, response.content) == (404, missing.content)
    assert stored() == before


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"action": "burn"}, 400),
        ({"action": None}, 400),
        ({"action": ["pin"]}, 400),
        ({"conversations": []}, 400),
        ({"conversations": "x"}, 400),
        ({"conversations": [7]}, 400),
        ({"conversations": [str(uuid.uuid4())] * 201}, 413),
        ({"action": "tag"}, 400),
        ({"action": "tag", "tag": " \t"}, 400),
        ({"action": "tag", "tag": "a\0"}, 400),
        ({"action": "tag", "tag": "x" * 41}, 413),
        ({"page": "elsewhere"}, 400),
        ({"colour": "red"}, 400),
    ],
)
def test_a_change_that_is_none_is_refused(
    alice_client: Client, alice: User, wrong: dict, status: int
) -> None:
    rows = made(alice, "1")
    before = stored()
    body = {"action": "pin", "conversations": [str(rows[0].pk)]} | wrong
    response = alice_client.post("/conversations/", body, content_type="application/json")
    assert response.status_code == status
    assert response.json()["error"]["message"]
    assert stored() == before


def test_pins_are_limited(alice_client: Client, alice: User) -> None:
    rows = made(alice, *map(str, range(changes.MAX_PINNED_CONVERSATIONS + 1)))
    assert change(alice_client, "pin", *rows[1:]).status_code == 200
    assert change(alice_client, "pin", *rows[1:]).status_code == 200  # the same ones again
    response = change(alice_client, "pin", rows[0])
    assert response.status_code == 409
    assert "50" in response.json()["error"]["message"]
    assert not Conversation.objects.get(pk=rows[0].pk).pinned_at


def test_a_form_leads_back_to_its_page_which_says_what_was_done(alice_client: Client, alice: User) -> None:
    rows = made(alice, "1", "2")
    body = {"action": "archive", "conversations": [str(row.pk) for row in rows], "page": "list", "tag": ""}
    response = alice_client.post("/conversations/", body, follow=True)
    [(address, status)] = response.redirect_chain
    assert (address.partition("&undo=")[0], status) == ("/conversations/?done=archive&number=2", 303)
    assert "2 chats archived." in response.content.decode()
    single = alice_client.post("/conversations/", {"action": "pin", "conversations": str(rows[0].pk)})
    assert (single.status_code, single["Location"]) == (303, f"/c/{rows[0].pk}/")
    for address in ("?done=burn&number=1", "?done=archive&number=x", "?done=archive&number=999999"):
        assert alice_client.get(f"/conversations/{address}").context["done"] == ""


def menu_of(alice_client: Client, path: str) -> str:
    """Return the menu of the page's header."""
    content = alice_client.get(path).content.decode()
    return content[content.index('<div id="menu"') : content.index("</header>")]


@pytest.mark.parametrize(
    ("action", "pin", "archive"),
    [
        ("unpin", ("pin", "Pin"), ("archive", "Archive")),
        ("pin", ("unpin", "Unpin"), ("archive", "Archive")),
        ("archive", ("pin", "Pin"), ("unarchive", "Move back to the list")),
    ],
)
def test_the_menu_of_a_conversation_offers_what_can_be_done_next(
    alice_client: Client, alice: User, action: str, pin: tuple[str, str], archive: tuple[str, str]
) -> None:
    [row] = made(alice, "Red")
    change(alice_client, action, row)
    menu = menu_of(alice_client, f"/c/{row.pk}/")
    assert re.findall(r'name="action" value="(\w+)"[^>]*>([^<]+)<', menu) == [pin, archive]
    assert re.findall(r'data-opens="(\w+)"', menu) == [
        "title",
        "pin",
        "archive",
        "tags",
        "settings",
        "print",
        "delete",
    ]
    assert f'name="conversations" value="{row.pk}"' in menu
    assert "data-opens" in menu_of(alice_client, "/")
    assert 'data-opens="pin"' not in menu_of(alice_client, "/?temporary=on")


def test_purged_conversations_cannot_be_restored_and_are_due(alice_client: Client, alice: User) -> None:
    rows = made(alice, "1", "2")
    change(alice_client, "delete", *rows)
    assert change(alice_client, "purge", rows[0]).status_code == 200
    assert shown(alice_client, LISTS[2]) == ["2"]
    assert change(alice_client, "restore", rows[0]).status_code == 404
    due = Conversation.objects.filter(deleted__lt=timezone.now() - timedelta(days=30))
    assert [row.pk for row in due] == [rows[0].pk]
    assert change(alice_client, "purge", made(alice, "3")[0]).status_code == 404  # only from the trash


@pytest.mark.parametrize(("days", "status"), [(1, 200), (29.99, 404), (31, 404)])
def test_a_conversation_due_for_deletion_cannot_be_restored(
    alice_client: Client, alice: User, days: float, status: int
) -> None:
    [row] = made(alice, "1", deleted=timezone.now() - timedelta(days=days))
    for _ in range(2):  # the second time there is nothing to do
        response = alice_client.post(f"/c/{row.pk}/undelete/", content_type="application/json")
        assert response.status_code == status
    assert (Conversation.objects.get().deleted is None) == (status == 200)


@override_settings(KEEP_DELETED_DAYS=0)
def test_a_site_that_keeps_all_offers_no_deletion_for_good(alice_client: Client, alice: User) -> None:
    rows = made(alice, "1", deleted=timezone.now())
    assert b'value="purge"' not in alice_client.get(LISTS[2]).content
    assert b'value="restore"' in alice_client.get(LISTS[2]).content
    before = stored()
    assert change(alice_client, "purge", *rows).status_code == 409
    assert stored() == before


def test_a_tag_is_one_however_it_is_written(alice_client: Client, alice: User) -> None:
    red, blue = made(alice, "Red", "Blue")
    change(alice_client, "tag", red, tag="  Café  trip ")
    change(alice_client, "tag", red, blue, tag="CAFE\u0301 TRIP")
    assert [tag.name for tag in Tag.objects.all()] == ["Café trip"]
    assert tags.tags_of([red.pk, blue.pk]) == {red.pk: ["Café trip"], blue.pk: ["Café trip"]}
    assert shown(alice_client, "/conversations/?tag=café TRIP") == ["Blue", "Red"]
    change(alice_client, "untag", red, tag="CAFÉ TRIP")
    assert shown(alice_client, "/conversations/?tag=Café trip") == ["Blue"]
    change(alice_client, "untag", blue, tag="café trip")
    assert not Tag.objects.exists()


def test_the_sidebar_filters_by_tag_and_searches(alice_client: Client, alice: User) -> None:
    assert '<details class="sidebar-tags" hidden>' in alice_client.get("/").content.decode()
    change(alice_client, "tag", *made(alice, "Red"), tag="c & d")
    for path in ("/", "/settings/"):
        content = alice_client.get(path).content.decode()
        assert '<a href="/conversations/?tag=c%20%26%20d" dir="auto">c &amp; d</a>' in content
        # Without scripts a field of its own; with them the link opens the dialog.
        assert re.search(r'<noscript><form role="search" action="/search/"><input [^>]*name="q"', content)
        assert 'href="/search/" data-opens="search"' in content


def test_another_persons_tag_of_that_name_is_another(alice_client: Client, alice: User) -> None:
    bob = User.objects.create_user("bob")
    his = made(bob, "his")
    tags.add_tag(bob, [his[0].pk], "red")
    hers = made(alice, "hers")
    change(alice_client, "tag", *hers, tag="red")
    assert Tag.objects.count() == 2
    change(alice_client, "untag", *hers, tag="red")
    assert [tag.user for tag in Tag.objects.all()] == [bob]
    assert shown(alice_client, "/conversations/?tag=red") == []


def test_tags_are_limited(alice_client: Client, alice: User) -> None:
    row, other = made(alice, "1", "2")
    for number in range(tags.MAX_TAGS_PER_CONVERSATION):
        assert change(alice_client, "tag", row, tag=f"tag {number}").status_code == 200
    assert change(alice_client, "tag", row, tag="tag 3").status_code == 200
    before = stored()
    assert change(alice_client, "tag", row, tag="one more").status_code == 409
    assert stored() == before
    free = tags.MAX_TAGS_PER_USER - tags.MAX_TAGS_PER_CONVERSATION
    Tag.objects.bulk_create([Tag(user=alice, name=f"{n}", folded=f"{n}") for n in range(free)])
    assert change(alice_client, "tag", other, tag="instead of unused ones").status_code == 200
    assert Tag.objects.count() == tags.MAX_TAGS_PER_CONVERSATION + 1


def test_the_page_of_a_conversations_tags_is_its_owners(alice_client: Client, alice: User) -> None:
    row = made(alice, "1")[0]
    change(alice_client, "tag", row, tag="<b>red</b>")
    whole = alice_client.get(f"/c/{row.pk}/tags/").content.decode()
    part = alice_client.get(f"/c/{row.pk}/tags/", headers={"X-Requested-With": "fetch"}).content.decode()
    assert "&lt;b&gt;red&lt;/b&gt;" in part
    assert "<main" in whole
    assert "<main" not in part
    done = alice_client.post(
        "/conversations/", {"action": "untag", "conversations": str(row.pk), "tag": "<b>red</b>"}
    )
    assert (done.status_code, done["Location"]) == (303, f"/c/{row.pk}/tags/")


def test_a_tag_of_unfit_characters_is_none(alice_client: Client, alice: User) -> None:
    made(alice, "1")
    assert shown(alice_client, "/conversations/?tag=a%00b%FF") == []


def test_a_change_leads_back_to_the_page_it_was_made_on(alice_client: Client, alice: User) -> None:
    rows = made(alice, *map(str, range(CONVERSATIONS_PER_PAGE + 2)))
    change(alice_client, "tag", *rows, tag="a & b")
    first = alice_client.get("/conversations/?tag=a+%26+b")
    second = alice_client.get(f"/conversations/?tag=a+%26+b&before={first.context['older']}")
    [one, other] = listed(second)
    archived = post_to_form(alice_client, second, {"action": "archive", "conversations": one})
    assert (archived.context["tag"], listed(archived)) == ("a & b", [other])
    undone = post_to_form(alice_client, archived, {"action": "undo", "undo": archived.context["undo"]})
    assert (undone.context["tag"], listed(undone)) == ("a & b", [one, other])
    both = {"action": "archive", "conversations": [one, other]}
    emptied = post_to_form(alice_client, undone, both)
    first_page = ("a & b", CONVERSATIONS_PER_PAGE)
    assert (emptied.context["tag"], len(listed(emptied))) == first_page


def listed(response: Any) -> list[str]:
    return [str(item["id"]) for group in response.context["groups"] for item in group["items"]]


def post_to_form(alice_client: Client, shown: Any, fields: dict[str, Any]) -> Any:
    """Post fields to the forms of a list's page, and return the page that follows."""
    [address] = set(re.findall(r'method="post" action="(/conversations/[^"]*)"', shown.content.decode()))
    return alice_client.post(unescape(address), {"page": "list", "tag": "", **fields}, follow=True)
