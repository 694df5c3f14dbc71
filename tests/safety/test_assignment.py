"""Fields that nobody was offered: what a form does not have cannot be set by sending it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from chat.models import Conversation, Message, Run, SetupLink, User
from tests.support.databases import Database
from tests.support.invites import issue_invite
from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.views.objects import Turn, address, make_turn
from tests.views.rights import CHAT, Row

OFFERED = {"title", "system", "model", "content", "parent", "client_key", "thumb", "reason"}
# Further fields of the forms of single routes.
ASSISTANT = {"description", "instructions", "parameters", "picture", "questions"}
OFFERED_BY_ROUTE = {
    "settings/assistants/": ASSISTANT,
    "settings/assistants/<uuid:assistant>/": ASSISTANT,
    "settings/prompts/": {"command"},
    "settings/prompts/<uuid:prompt>/": {"command"},
}
SENDS = [row for row in CHAT if row.methods == "POST"]


def columns() -> set[str]:
    """Every field of every table of the chat, under each of its names."""
    fields = [field for model in apps.get_app_config("chat").get_models() for field in model._meta.fields]
    return {name for field in fields for name in (field.name, field.attname)} | {"pk", "id"}


FOREIGN = sorted(columns() - OFFERED)


@pytest.fixture(scope="module")
def alice(server: Server) -> Person:
    return server.person("alice")


@pytest.fixture
def turn(alice: Person) -> Iterator[Turn]:
    """A turn with a key, a link and an assistant, of which a person can have only so many."""
    made = make_turn(alice)
    yield made
    alice.post(f"/settings/keys/{made.key}/revoke/")
    alice.post(f"/settings/shared/{made.link}/revoke/")
    alice.post(f"/settings/assistants/{made.assistant}/delete/")


def test_there_are_fields_to_try() -> None:
    assert {
        "user",
        "user_id",
        "is_staff",
        "is_superuser",
        "status",
        "deleted",
        "created",
        "last_seen",
    } <= set(FOREIGN)
    assert {Conversation, Message, Run} <= set(apps.get_app_config("chat").get_models())


def stored(database: Database) -> list[Any]:
    people = "SELECT id, username, email, is_staff, is_superuser, is_active FROM chat_user ORDER BY id"
    return database.rows(people) + database.rows(
        "SELECT id, user_id, created FROM chat_conversation ORDER BY id"
    )


@pytest.mark.parametrize("row", SENDS, ids=str)
def test_json_with_an_unknown_field_is_refused_or_ignored(
    alice: Person, turn: Turn, database: Database, row: Row
) -> None:
    before = stored(database)
    offered = row.body or {}
    for name in set(FOREIGN) - set(offered) - OFFERED_BY_ROUTE.get(row.route, set()):
        response = alice.call("POST", address(row, turn), {**offered, name: "2"})
        assert response.status_code in (400, 404, 415) or row.body is None, f"{name}: {response.status_code}"
    assert stored(database)[: len(before)] == before


@pytest.mark.parametrize("row", SENDS, ids=str)
def test_form_with_an_unknown_field_is_refused_or_ignored(
    alice: Person, turn: Turn, database: Database, row: Row
) -> None:
    before = stored(database)
    fields = {**(row.body or {}), **dict.fromkeys(FOREIGN, "2")}
    response = alice.client.post(address(row, turn), data=fields, headers={"X-CSRFToken": CSRF})
    assert response.status_code in (400, 404, 415) or row.body is None, response.status_code
    assert stored(database) == before


ACCOUNT_FORMS = {
    "/accounts/login/": {"login": "alice", "password": "wrong"},
    "/accounts/password/": {
        "current": "wrong",
        "new_password1": "another long word",
        "new_password2": "another long word",
    },
}


@pytest.mark.parametrize("path", ACCOUNT_FORMS)
def test_the_forms_of_accounts_change_nothing_else(server: Server, database: Database, path: str) -> None:
    before = stored(database)
    for name in ("", "bob"):
        fields = {**ACCOUNT_FORMS[path], **dict.fromkeys(FOREIGN, "1"), "next": "https://evil.example"}
        response = server.person(name).client.post(path, data=fields)
        assert "evil.example" not in response.headers.get("Location", "")
    assert stored(database) == before


@pytest.mark.django_db
@pytest.mark.parametrize("link", ["invite", "setup"])
def test_a_link_makes_the_account_that_it_is_for_and_no_other(client: Client, link: str) -> None:
    if link == "invite":
        boss = User.objects.create_superuser("boss", password="a long enough phrase")
        _, token = issue_invite(boss)
    else:
        token = str(SetupLink.objects.pending().token)
    fields = {"username": "new", "password1": "quite another phrase", "password2": "quite another phrase"}
    response = client.post(
        f"/accounts/{link}/{token}/", {**dict.fromkeys(FOREIGN, "1"), **fields, "email": ""}
    )
    assert response.status_code == 302
    made = User.objects.get(username="new")
    assert (made.is_staff, made.is_superuser) == (link == "setup",) * 2
    assert User.objects.count() == (2 if link == "invite" else 1)
    assert not made.user_permissions.exists()
