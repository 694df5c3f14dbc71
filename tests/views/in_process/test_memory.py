"""The memory of a person: its section of the settings, its limits, and what a model is told of it."""

import html
from typing import Any

import pytest
from django.test import Client

from chat.conversations.turns.prompt import system_prompt
from chat.exceptions import Conflict
from chat.library import memory
from chat.models import Conversation, Memory, Preferences, User
from chat.upstream.catalog import LlmModel

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LIST = "/settings/memory/"
MODEL = LlmModel("@cf/a/b", "B", window=3_000)
WORD = "w" * 500


def post(client: Client, path: str, body: Any) -> Any:
    return client.post(path, body, content_type="application/json")


def facts(user: User) -> list[str]:
    return list(Memory.objects.owned_by(user).values_list("fact", flat=True))


def page(client: Client, path: str = LIST) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def test_a_fact_is_added_edited_and_deleted(alice_client: Client, alice: User) -> None:
    added = post(alice_client, LIST, {"fact": " I like\n tea. "})
    key = added.json()["id"]
    assert (added.status_code, added.json()) == (201, {"id": key, "fact": "I like tea."})
    assert post(alice_client, LIST, {"fact": "I like tea."}).json()["id"] == key
    changed = post(alice_client, f"{LIST}{key}/", {"fact": "I like coffee."})
    assert changed.json() == {"id": key, "fact": "I like coffee."}
    assert facts(alice) == ["I like coffee."]
    assert post(alice_client, f"{LIST}{key}/delete/", {}).json() == {"id": key, "deleted": True}
    assert facts(alice) == []


def test_forms_work_without_scripts(alice_client: Client, alice: User) -> None:
    assert "You have 0 of 200." in page(alice_client)
    for fact in ("I like tea.", "I live in Rome."):
        added = alice_client.post(LIST, {"fact": fact})
        assert (added.status_code, added["Location"]) == (303, f"{LIST}?saved")
    shown = page(alice_client, added["Location"])
    assert "Your changes are saved." in shown
    assert "You have 2 of 200." in shown
    assert 0 < shown.index("I live in Rome.") < shown.index("I like tea.")
    key = Memory.objects.get(fact="I like tea.").pk
    assert "I live in Rome." not in page(alice_client, f"{LIST}{key}/")
    assert alice_client.post(f"{LIST}{key}/", {"fact": "I drink tea."}).status_code == 303
    assert facts(alice) == ["I drink tea.", "I live in Rome."]
    assert alice_client.post(f"{LIST}{key}/delete/").status_code == 303
    assert alice_client.post(f"{LIST}delete/").status_code == 303
    assert facts(alice) == []


def test_the_switch_is_kept(alice_client: Client) -> None:
    assert 'value="on" checked' in page(alice_client)
    assert alice_client.post(f"{LIST}switch/", {"memory": "off"}).status_code == 303
    assert 'value="off" checked' in page(alice_client)
    for wrong in ({"memory": True}, {"memory": ""}, {}, {"more": 1}):
        assert post(alice_client, f"{LIST}switch/", wrong).status_code == 400
    assert post(alice_client, f"{LIST}switch/", {"memory": "on"}).json() == {"memory": "on"}
    assert 'value="on" checked' in page(alice_client)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"fact": " \n"}, 400),
        ({}, 400),
        ({"fact": 1}, 400),
        ({"fact": "a\0"}, 400),
        ({"fact": "a", "owner": 1}, 400),
        ({"fact": "x" * 501}, 413),
    ],
)
def test_a_wrong_fact_is_refused(alice_client: Client, alice: User, fields: Any, status: int) -> None:
    key = memory.remember(alice, WORD)[0].pk
    for path in (LIST, f"{LIST}{key}/"):
        refused = post(alice_client, path, fields)
        assert refused.status_code == status
        assert refused.json()["error"]["message"]
        if isinstance(fields.get("fact"), str):
            form = alice_client.post(path, fields)
            assert form.status_code == status
            assert f"\n{fields['fact']}</textarea>" in html.unescape(form.content.decode())
    assert facts(alice) == [WORD]


def test_the_201st_is_refused(alice_client: Client, alice: User) -> None:
    made = [memory.remember(alice, f"fact {number}")[0] for number in range(200)]
    refused = post(alice_client, LIST, {"fact": "one more"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    form = alice_client.post(LIST, {"fact": "one more"})
    assert (form.status_code, Memory.objects.count()) == (409, 200)
    assert "You can have at most 200 memories." in form.content.decode()
    with pytest.raises(Conflict):
        memory.remember(alice, "one more")
    memory.forget(alice, made[0].pk)
    assert memory.remember(alice, "one more")[0].fact == "one more"


def test_of_a_stranger_nothing_is_shown_or_deleted(alice_client: Client) -> None:
    bob = User.objects.create_user("bob")
    memory.remember(bob, "I am Bob.")
    assert post(alice_client, f"{LIST}delete/", {}).json() == {"deleted": 0}
    assert facts(bob) == ["I am Bob."]
    assert "I am Bob." not in page(alice_client)


def test_a_model_is_told_the_newest_that_fit(alice: User) -> None:
    chat = Conversation.objects.create(user=alice, title="Tea", model="m")
    assert system_prompt(chat, MODEL) == ""
    for number in range(4):
        memory.remember(alice, f"{number}{WORD[1:]}")
    assert system_prompt(chat, MODEL).split("\n- ") == [memory.HEADING, *(f"{n}{WORD[1:]}" for n in range(4))]
    small = LlmModel("@cf/a/b", "B", window=1_500)
    assert system_prompt(chat, small).split("\n- ") == [memory.HEADING, *(f"{n}{WORD[1:]}" for n in (2, 3))]
    assert system_prompt(chat, LlmModel("@cf/a/b", "B", window=100)) == ""


def test_it_is_silent_when_off_and_in_temporary_chats(alice: User) -> None:
    memory.remember(alice, "I like tea.")
    chat = Conversation.objects.create(user=alice, title="Tea", model="m")
    assert memory.told(chat, MODEL) == f"{memory.HEADING}\n- I like tea."
    assert not memory.told(Conversation(user=alice, temporary=True), MODEL)
    Preferences.objects.create(user=alice, memory=False)
    alice.refresh_from_db()
    assert not memory.told(Conversation(user=alice), MODEL)


def test_a_deleted_account_leaves_no_memory(alice: User) -> None:
    memory.remember(alice, "I like tea.")
    alice.delete()
    assert not Memory.objects.exists()
