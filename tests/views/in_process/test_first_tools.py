"""The web search in new chats: by the assistant, else by the person, and only where the site has it."""

import re
from typing import Any

import pytest
from django.test import Client

from chat.library import assistants
from chat.library.assistants import AssistantContent
from chat.models import Assistant, Preferences, User
from tests.support.assistants import plan

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HTML = {"HTTP_ACCEPT": "text/html"}
PAGES = "/settings/assistants/"
NAME = "Web search in new chats"


@pytest.fixture(autouse=True)
def web_search(settings: Any) -> None:
    settings.WEB_SEARCH, settings.SEARXNG_URL = "searxng", "http://127.0.0.1:1"


@pytest.fixture
def cook(alice: User) -> Assistant:
    return assistants.create(alice, AssistantContent("Cook"))


def chosen(user: User, value: bool) -> User:
    Preferences.objects.update_or_create(user=user, defaults={"web_search": value})
    return User.objects.get(pk=user.pk)


def is_on(page: str) -> bool:
    (switch,) = re.findall(r'<input [^>]*name="tools" value="web_search"[^>]*>', page)
    return " checked" in switch


@pytest.mark.parametrize("of_person", [None, False, True])
@pytest.mark.parametrize("of_assistant", [None, False, True])
@pytest.mark.parametrize("provider", ["searxng", "none"])
def test_the_assistants_default_comes_before_the_persons(
    alice: User, cook: Assistant, settings: Any, of_person: Any, of_assistant: Any, provider: str
) -> None:
    settings.WEB_SEARCH = provider
    user = alice if of_person is None else chosen(alice, of_person)
    assistants.edit(user, cook.pk, AssistantContent("Cook", web_search=of_assistant))
    wanted = ["web_search"] if provider != "none" else []
    assert plan(user).conversation.tools == (wanted if of_person else [])
    begun = plan(user, assistant=cook.pk)
    expected = of_person if of_assistant is None else of_assistant
    assert begun.conversation.tools == begun.tools == (wanted if expected else [])


def test_a_question_that_names_tools_has_those(alice: User) -> None:
    user = chosen(alice, True)
    assert plan(user, tools=()).conversation.tools == []
    assert plan(user, tools=("search_my_chats",)).conversation.tools == ["search_my_chats"]
    begun = plan(alice, tools=())
    begun.conversation.save()
    assert plan(user, conversation=begun.conversation.pk).tools == []  # the default is for new chats alone


def test_a_new_chat_shows_the_default(alice_client: Client, alice: User, cook: Assistant) -> None:
    assert not is_on(alice_client.get("/").content.decode())
    chosen(alice, True)
    assert is_on(alice_client.get("/").content.decode())
    assert is_on(alice_client.get(f"/?assistant={cook.pk}").content.decode())
    assistants.edit(alice, cook.pk, AssistantContent("Cook", web_search=False))
    assert not is_on(alice_client.get(f"/?assistant={cook.pk}").content.decode())
    begun = plan(alice, tools=())
    begun.conversation.save()
    assert not is_on(alice_client.get(f"/c/{begun.conversation.pk}/").content.decode())


def test_the_settings_have_a_row_where_the_site_can_search(
    alice_client: Client, alice: User, settings: Any
) -> None:
    page = alice_client.get("/settings/").content.decode()
    assert NAME in page
    assert 'name="web_search" value="off" checked' in page
    saved = alice_client.post("/settings/", {"web_search": "on"}, content_type="application/json")
    assert saved.json()["web_search"] == "on"
    assert 'name="web_search" value="on" checked' in alice_client.get("/settings/").content.decode()
    settings.WEB_SEARCH = "none"
    assert NAME not in alice_client.get("/settings/").content.decode()
    alice_client.post("/settings/", {"theme": "dark"}, **HTML)  # without the row
    assert Preferences.objects.get(user=alice).web_search


@pytest.mark.parametrize("value", ["", "yes", True, None, ["on"]])
def test_another_value_is_refused(alice_client: Client, alice: User, value: Any) -> None:
    sent = alice_client.post("/settings/", {"web_search": value}, content_type="application/json")
    assert sent.status_code == 400
    assert not Preferences.objects.filter(user=alice).exists()


def shown(alice_client: Client, cook: Assistant) -> str:
    page = alice_client.get(f"{PAGES}{cook.pk}/", **HTML).content.decode()
    return page.partition('name="web_search"')[2].partition("</select>" if NAME in page else ">")[0]


def test_the_form_of_an_assistant(alice_client: Client, alice: User, cook: Assistant, settings: Any) -> None:
    for sent, value, option in (("on", True, "On"), ("off", False, "Off"), ("", None, "")):
        alice_client.post(f"{PAGES}{cook.pk}/", {"name": "Cook", "web_search": sent}, **HTML)
        cook.refresh_from_db()
        assert cook.current
        assert cook.current.web_search is value
        found = re.findall(r"selected>([^<]*)<", shown(alice_client, cook))
        assert found == ([option] if option else [])
    refused = alice_client.post(PAGES, {"name": "", "web_search": "off"}, **HTML).content.decode()
    assert '<option value="off" selected>' in refused
    alice_client.post(f"{PAGES}{cook.pk}/", {"name": "Cook", "web_search": "on"}, **HTML)
    settings.WEB_SEARCH = "none"
    assert shown(alice_client, cook) == ' value="on"'  # kept for when the site can search again


@pytest.mark.parametrize(("sent", "status"), [(True, 200), (None, 200), ("on", 400), (1, 400)])
def test_the_call_of_an_assistant(alice_client: Client, cook: Assistant, sent: Any, status: int) -> None:
    body = {"name": "Cook", "web_search": sent}
    assert (
        alice_client.post(f"{PAGES}{cook.pk}/", body, content_type="application/json").status_code == status
    )
