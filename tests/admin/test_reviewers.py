"""Reviewers: staff with the right to view conversations. The admin has no way to change the log."""

import uuid

import pytest
from django.contrib import admin

from chat.models import Conversation, ConversationAccess, Run, Worker
from tests.support.databases import Database
from tests.support.people import CSRF
from tests.support.server import Server

LOG = {model._meta.model_name: model for model in (Conversation, Run, Worker, ConversationAccess)}
TABLES = ("chat_conversation", "chat_message", "chat_run", "chat_feedback", "chat_conversationaccess")
SENT = {"csrfmiddlewaretoken": CSRF, "post": "yes", "title": "changed", "status": "failed"}


@pytest.fixture(scope="module")
def ids(server: Server, database: Database) -> dict[str, str]:
    """A row of each table, as its address wants it; the reading is erin's of alice's conversation."""
    stream = server.person("alice").asked("a secret of alice")
    assert server.person("erin").get(f"/admin/chat/conversation/{stream.conversation}/change/").is_success
    return {
        "conversation": stream.conversation,
        "run": stream.run,
        "worker": str(uuid.UUID(str(database.value("SELECT id FROM chat_worker LIMIT 1")))),
        "conversationaccess": str(database.value("SELECT id FROM chat_conversationaccess LIMIT 1")),
    }


def addresses(model: str, key: str) -> dict[str, str]:
    """Return the admin's URLs for one table, by name."""
    below = f"/admin/chat/{model}/"
    return {"changelist": below, "add": f"{below}add/"} | {
        name: f"{below}{key}/{name}/" for name in ("change", "delete", "history")
    }


def test_these_are_all_the_addresses_of_the_log() -> None:
    for name, model in LOG.items():
        urls = admin.site._registry[model].urls
        names = {url.name.rpartition("_")[2] for url in urls if url.name}
        assert names - {"rates"} == set(addresses(name, "x"))  # of the runs: tests/admin/test_model_stats.py


@pytest.mark.parametrize("model", LOG)
@pytest.mark.parametrize("who", ["", "dave"])
def test_signed_out_and_disabled_people_are_sent_to_the_login(
    server: Server, ids: dict[str, str], who: str, model: str
) -> None:
    for address in addresses(model, ids[model]).values():
        response = server.person(who).get(address)
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/admin/login/?next=")
        assert "/accounts/login/" in server.person(who).get(response.headers["Location"]).headers["Location"]


@pytest.mark.parametrize("model", LOG)
def test_people_who_are_not_staff_may_not(server: Server, ids: dict[str, str], model: str) -> None:
    for address in ("/admin/", *addresses(model, ids[model]).values()):
        response = server.person("alice").get(address, follow_redirects=True)
        assert response.status_code == 403


@pytest.mark.parametrize("model", LOG)
def test_staff_without_the_right_may_not_and_learns_nothing(
    server: Server, ids: dict[str, str], model: str
) -> None:
    carol = server.person("carol")
    for address in addresses(model, ids[model]).values():
        assert carol.get(address).status_code == 403
    there = carol.get(f"/admin/chat/conversation/{ids['conversation']}/change/")
    gone = carol.get(f"/admin/chat/conversation/{uuid.uuid4()}/change/")
    assert (there.status_code, there.content) == (gone.status_code, gone.content)
    assert f"/admin/chat/{model}/" not in carol.get("/admin/").text


def test_a_reviewer_sees_conversations_and_links_only(server: Server, ids: dict[str, str]) -> None:
    erin = server.person("erin")
    seen = addresses("conversation", ids["conversation"])
    assert "a secret of alice" in erin.get(seen["changelist"]).text
    assert "a secret of alice" in erin.get(seen["change"]).text
    assert erin.get(seen["add"]).status_code == erin.get(seen["delete"]).status_code == 403
    for model in ("run", "worker", "conversationaccess"):
        for address in addresses(model, ids[model]).values():
            assert erin.get(address).status_code == 403
    offered = {
        model._meta.model_name
        for model in admin.site._registry
        if f"/{model._meta.app_label}/{model._meta.model_name}/" in erin.get("/admin/").text
    }
    assert offered == {"conversation", "sharedlink"}


def test_an_administrator_sees_every_list_and_changes_none(server: Server, ids: dict[str, str]) -> None:
    root = server.person("root")
    for model in LOG:
        where = addresses(model, ids[model])
        assert root.get(where["changelist"]).status_code == 200
        assert root.get(where["add"]).status_code == root.get(where["delete"]).status_code == 403
        assert f'href="{where["changelist"]}"' in root.get("/admin/").text


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("model", LOG)
@pytest.mark.parametrize("who", ["erin", "root"])
def test_nothing_in_the_log_can_be_changed(
    server: Server, ids: dict[str, str], database: Database, who: str, model: str, method: str
) -> None:
    def log() -> list[object]:
        return [database.rows(f"SELECT * FROM {table} ORDER BY id") for table in TABLES]

    before = log()
    selected = {"action": "delete_selected", "_selected_action": ids[model], "form-0-id": ids[model]}
    for address in addresses(model, ids[model]).values():
        response = server.person(who).client.request(method, address, data=SENT | selected)
        assert response.status_code in (403, 405)
    assert log() == before


def test_every_link_of_the_overview_leads_somewhere(server: Server) -> None:
    import re

    root = server.person("root")
    for address in set(re.findall(r'<a href="(/[^"]*)"', root.get("/admin/").text)):
        assert root.get(address, follow_redirects=True).status_code == 200, address
