"""The sections of the settings: on their pages, and without their shell for the dialog over the chat."""

import re

import pytest
from django.test import Client

from chat.models import Run, User
from tests.support.message_trees import Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
PART = {"X-Requested-With": "fetch", "Accept": "text/html"}
SETTINGS = ("", "instructions/", "memory/", "account/", "keys/", "usage/", "data/", "readings/")
LIBRARY = ("assistants/", "prompts/")


@pytest.mark.parametrize("section", SETTINGS)
def test_a_script_gets_a_section_without_its_shell(alice_client: Client, section: str) -> None:
    page = alice_client.get(f"/settings/{section}").content.decode()
    part = alice_client.get(f"/settings/{section}", headers=PART).content.decode()
    for sign in ("<html", 'id="sidebar"', 'id="settings-page"'):
        assert sign in page
        assert sign not in part
    for text in (page, part):
        assert text.count('class="settings-section"') == 1
        assert f'href="/settings/{section}" aria-current="page"' in text
        assert text.count('href="/settings/assistants/"') == (text is page)


@pytest.mark.parametrize("section", LIBRARY)
def test_assistants_and_prompts_are_a_place_of_their_own(alice_client: Client, section: str) -> None:
    page = alice_client.get(f"/settings/{section}").content.decode()
    sections = page.partition('class="settings-sections"')[2].partition("</nav>")[0]
    assert [f'href="/settings/{each}"' in sections for each in (*LIBRARY, *SETTINGS)] == [True] * 2 + [
        False
    ] * len(SETTINGS)


def test_browsers_are_told_which_field_holds_what(alice_client: Client) -> None:
    page = alice_client.get("/accounts/password/").content.decode()
    fields = re.findall('<input [^>]*autocomplete="(?:username|current|new)[^>]+>', page)
    assert [re.findall(r'(?:name|autocomplete)="([^"]+)"', tag) for tag in fields] == [
        ["username", "username"],
        ["current", "current-password"],
        ["new_password1", "new-password"],
    ]


def test_the_browsers_zone_is_named_only_if_it_is_known(alice_client: Client) -> None:
    assert "Browser default (" not in alice_client.get("/settings/").content.decode()
    alice_client.cookies["tz"] = "Nowhere/At-all"
    assert "Browser default (" not in alice_client.get("/settings/").content.decode()
    alice_client.cookies["tz"] = "Asia/Tokyo"
    assert "Browser default (Asia/Tokyo)" in alice_client.get("/settings/").content.decode()


def test_a_cost_of_zero_or_unknown_is_said(alice: User, alice_client: Client) -> None:
    tree = Tree(conversation(alice))
    first, second = (
        run(tree.grow(None, 2)[1], "complete", prompt_tokens=9, completion_tokens=9) for _ in "12"
    )
    Run.objects.filter(pk=first.pk).update(model="local/x")
    page = alice_client.get("/settings/usage/").content.decode()
    assert page.count("<td>nothing</td>") == 2  # of the model, and on its day
    assert page.count("<td>unknown</td>") == 3  # also in the sum
    Run.objects.filter(pk=second.pk).delete()
    assert alice_client.get("/settings/usage/").content.decode().count("<td>nothing</td>") == 3
