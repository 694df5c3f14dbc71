"""The prompt library: its pages, its limits, and who may use whose prompts."""

import html
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from chat.library import prompts
from chat.library.prompts import command_from
from chat.limits import MAX_PROMPT_CHARS
from chat.models import Prompt, User
from tests.support.clients import as_

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LIST = "/settings/prompts/"
LETTER = {"title": "A letter", "command": "/Letter", "text": "Dear {{name}},\nhello\n"}


def post(alice_client: Client, path: str, body: Any) -> Any:
    return alice_client.post(path, body, content_type="application/json")


def saved(alice_client: Client, **fields: Any) -> str:
    response = post(alice_client, LIST, LETTER | fields)
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def stored() -> list[Any]:
    return list(Prompt.objects.order_by("pk").values("pk", "title", "command", "text", "everybody", "groups"))


def commands(user: User) -> list[str]:
    return [each["command"] for each in as_(user).get("/prompts/").json()["prompts"]]


@pytest.fixture
def manager(db: None) -> User:
    """A person who may publish prompts."""
    made = User.objects.create_user("max", is_staff=True)
    made.user_permissions.add(Permission.objects.get(codename="publish_prompt"))
    return made


@pytest.fixture
def office(manager: User) -> Client:
    return as_(manager)


def test_a_prompt_is_created_listed_edited_and_deleted(alice_client: Client) -> None:
    key = saved(alice_client)
    assert alice_client.get(f"/prompts/{key}/").json() == {
        "id": key,
        "title": "A letter",
        "command": "letter",
        "text": "Dear {{name}},\nhello",
    }
    changed = post(alice_client, f"{LIST}{key}/", {"title": "Two  words", "text": "x"})
    assert changed.json() == {"id": key, "command": "two-words"}
    assert alice_client.get("/prompts/").json()["prompts"] == [
        {"id": key, "title": "Two words", "command": "two-words"}
    ]
    assert post(alice_client, f"{LIST}{key}/delete/", {}).json() == {"id": key, "deleted": True}
    assert not Prompt.objects.exists()


def test_forms_work_without_scripts(alice_client: Client) -> None:
    response = alice_client.post(LIST, LETTER)
    assert (response.status_code, response["Location"]) == (303, f"{LIST}?saved")
    prompt = Prompt.objects.get()
    assert "Your changes are saved." in alice_client.get(response["Location"]).content.decode()
    shown = html.unescape(alice_client.get(f"{LIST}{prompt.pk}/").content.decode())
    assert 'value="letter"' in shown
    assert ">\nDear {{name}},\nhello</textarea>" in shown
    assert alice_client.post(f"{LIST}{prompt.pk}/", LETTER | {"title": "B"}).status_code == 303
    assert alice_client.post(f"{LIST}{prompt.pk}/delete/").status_code == 303
    assert not Prompt.objects.exists()


def test_a_refused_form_keeps_what_was_typed(alice_client: Client) -> None:
    saved(alice_client)
    before = stored()
    response = alice_client.post(LIST, LETTER | {"title": "Another", "text": "typed for long"})
    shown = html.unescape(response.content.decode())
    assert response.status_code == 409
    assert "You already have a prompt with the command /letter." in shown
    assert "typed for long" in shown
    assert 'value="Another"' in shown
    assert stored() == before


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"title": ""}, 400),
        ({"title": None}, 400),
        ({"title": "x" * 101}, 413),
        ({"text": " \n"}, 400),
        ({"text": "x" * (MAX_PROMPT_CHARS + 1)}, 413),
        ({"text": "a\0"}, 400),
        ({"command": "two words"}, 400),
        ({"command": "a/b"}, 400),
        ({"command": "x" * 41}, 400),
        ({"command": 1}, 400),
        ({"more": 1}, 400),
        ({"audience": "all"}, 400),
        ({"audience": "groups"}, 400),
        ({"audience": "groups", "groups": ["x"]}, 400),
        ({"audience": "groups", "groups": 1}, 400),
        ({"audience": "groups", "groups": ["1" * 10]}, 400),
        ({"audience": "groups", "groups": [1] * 1_001}, 400),
        ({"audience": "everybody"}, 403),
        ({"audience": "groups", "groups": [1]}, 403),
    ],
)
def test_a_wrong_field_is_refused(alice_client: Client, fields: dict[str, Any], status: int) -> None:
    key = saved(alice_client, command="first")
    before = stored()
    assert post(alice_client, LIST, LETTER | fields).status_code == status
    assert post(alice_client, f"{LIST}{key}/", LETTER | fields).status_code == status
    assert stored() == before


def test_the_longest_prompt_and_the_limit(
    alice_client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "MAX_PROMPTS", 2)
    saved(alice_client, text="x" * MAX_PROMPT_CHARS)
    saved(alice_client, command="second")
    assert post(alice_client, LIST, LETTER | {"command": "third"}).status_code == 409
    assert Prompt.objects.count() == 2


def test_a_command_is_unique_for_each_person(alice_client: Client, office: Client) -> None:
    key = saved(alice_client)
    other = saved(alice_client, command="other")
    saved(office)
    assert post(alice_client, LIST, LETTER | {"command": "LETTER"}).status_code == 409
    assert post(alice_client, f"{LIST}{other}/", LETTER).status_code == 409
    assert post(alice_client, f"{LIST}{key}/", LETTER).status_code == 200


@pytest.mark.parametrize(
    ("title", "command"),
    [
        ("A formal letter!", "a-formal-letter"),
        ("Übersetzen ins Englische", "übersetzen-ins-englische"),
        ("日本語", "日本語"),
        ("!!!", "prompt"),
        ("x" * 50, "x" * 40),
    ],
)
def test_a_command_is_made_of_the_title(title: str, command: str) -> None:
    assert command_from(title) == command


def test_a_prompt_is_published_to_everybody_or_to_groups(alice: User, manager: User, office: Client) -> None:
    bob, writers = User.objects.create_user("bob"), Group.objects.create(name="Writers")
    bob.groups.add(writers)
    key = saved(office, audience="groups", groups=[writers.pk])
    assert (commands(bob), commands(alice)) == (["letter"], [])
    assert post(office, f"{LIST}{key}/", LETTER | {"text": "changed"}).status_code == 200
    assert commands(bob) == ["letter"], "an edit that does not say to whom it is published"
    assert post(office, f"{LIST}{key}/", LETTER | {"audience": "everybody"}).status_code == 200
    assert (commands(bob), commands(alice)) == (["letter"], ["letter"])
    assert post(office, f"{LIST}{key}/", LETTER | {"audience": "nobody"}).status_code == 200
    assert (commands(bob), commands(alice), commands(manager)) == ([], [], ["letter"])
    assert (
        post(office, LIST, LETTER | {"command": "b", "audience": "groups", "groups": [999]}).status_code
        == 400
    )


def test_a_deleted_group_makes_its_prompts_private(alice: User, office: Client) -> None:
    writers = Group.objects.create(name="Writers")
    alice.groups.add(writers)
    saved(office, audience="groups", groups=[writers.pk])
    writers.delete()
    assert commands(alice) == []


def test_a_reader_uses_a_published_prompt_and_changes_nothing(alice_client: Client, office: Client) -> None:
    key = saved(office, audience="everybody")
    before = stored()
    assert alice_client.get(f"/prompts/{key}/").json()["text"].startswith("Dear")
    shown = alice_client.get(LIST).content.decode()
    assert "Published by others" in shown
    assert "withdraw" not in shown
    assert alice_client.get(f"{LIST}{key}/").status_code == 404
    for path, body in ((f"{LIST}{key}/", LETTER), (f"{LIST}{key}/delete/", {})):
        assert post(alice_client, path, body).status_code == 404
    assert post(alice_client, f"{LIST}{key}/withdraw/", {}).status_code == 403
    assert stored() == before


def test_publishers_can_end_others_publications(alice: User, office: Client) -> None:
    prompt = Prompt.objects.create(owner=alice, title="t", command="c", text="x", everybody=True)
    assert f"{prompt.pk}/withdraw/" in office.get(LIST).content.decode()
    assert office.post(f"{LIST}{prompt.pk}/withdraw/").status_code == 303
    prompt.refresh_from_db()
    assert not prompt.everybody
    assert post(office, f"{LIST}{prompt.pk}/withdraw/", {}).status_code == 404
    assert post(office, f"{LIST}{uuid.uuid4()}/withdraw/", {}).status_code == 404


def test_a_former_publisher_cannot_change_what_is_published(manager: User, office: Client) -> None:
    key = saved(office, audience="everybody")
    manager.user_permissions.clear()
    assert post(office, f"{LIST}{key}/", LETTER | {"text": "other"}).status_code == 409
    assert Prompt.objects.get().text.startswith("Dear")
    assert post(office, f"{LIST}{key}/delete/", {}).status_code == 200


def test_the_menu_is_html_for_the_page_and_offers_a_first_prompt(alice_client: Client) -> None:
    part = {"HTTP_X_REQUESTED_WITH": "fetch", "HTTP_ACCEPT": "text/html"}
    assert "Create a prompt" in alice_client.get("/prompts/", **part).content.decode()
    saved(alice_client, title="<b>bold</b>")
    shown = alice_client.get("/prompts/", **part).content.decode()
    assert 'data-title="&lt;b&gt;bold&lt;/b&gt;"' in shown
    assert "Create a prompt" not in shown


def test_lists_cost_the_same_queries_for_many(
    alice_client: Client, alice: User, office: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        Prompt.objects.create(owner=alice, title="t", command=f"c{number}", text="x", everybody=True)
    with django_assert_num_queries(3):
        list(prompts.listed(alice).select_related("owner").prefetch_related("groups"))
        list(prompts.listed(alice))


def test_prompts_go_with_their_owner(alice: User, alice_client: Client) -> None:
    saved(alice_client)
    alice.delete()
    assert not Prompt.objects.exists()
