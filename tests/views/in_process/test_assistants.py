"""Assistants: their pages, who may use them, what a conversation with one is sent, and their versions."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone, translation

from chat.catalog import catalog
from chat.conversations.turns.fork import fork
from chat.conversations.turns.planner import Plan
from chat.exceptions import Conflict, NotFound
from chat.library import assistants
from chat.library.assistants import AssistantContent, fill, is_emoji
from chat.models import Assistant, AssistantVersion, Conversation, Message, User
from chat.retention.kinds import prune
from tests.support.assistants import begun, plan
from tests.support.clients import as_
from tests.support.concurrency import during

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HTML = {"HTTP_ACCEPT": "text/html"}
PAGES = "/settings/assistants/"
PIRATE = AssistantContent(
    "Pirate",
    "Talks like one",
    "Talk like a pirate to {name}.",
    "🏴‍☠️",
    parameters={"temperature": 1.5},
    questions=["Where is the gold?"],
)


@pytest.fixture
def pirate(alice: User) -> Assistant:
    return assistants.create(alice, PIRATE)


def system_of(made: Plan) -> str:
    first = made.request.messages[0]
    return str(first["content"]) if first["role"] == "system" else ""


def form(**fields: Any) -> dict[str, Any]:
    return {"name": "Cook", "instructions": "Cook for two.", "questions": ["What today?", "", ""], **fields}


def post(alice_client: Client, path: str, sent: dict[str, Any] | None = None) -> Any:
    return alice_client.post(path, sent or {}, content_type="application/json")


def test_a_form_makes_an_assistant_and_an_edit_a_version(alice_client: Client, alice: User) -> None:
    made = alice_client.post(PAGES, form(picture="🍲", temperature="0.5", model=""), **HTML)
    assert (made.status_code, made.headers["Location"]) == (303, f"{PAGES}?saved=1")
    cook = Assistant.objects.get(owner=alice)
    one = f"{PAGES}{cook.pk}/"
    shown = alice_client.get(one, **HTML).content.decode()
    assert all(words in shown for words in ("Cook for two.", "What today?", 'value="🍲"', 'value="0.5"'))
    assert "Publication" not in shown
    alice_client.post(one, form(name="Chef", temperature=""), **HTML)
    alice_client.post(one, form(name="Chef", temperature=""), **HTML)  # nothing has changed
    versions = [(row.number, row.name, row.parameters) for row in cook.versions.order_by("number")]
    assert versions == [(1, "Cook", {"temperature": 0.5}), (2, "Chef", {})]
    listed = alice_client.get(PAGES, **HTML).content.decode()
    assert "Chef" in listed
    assert "Cook" not in listed


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"name": " "}, 400),
        ({"name": "x" * 81}, 413),
        ({"description": "x" * 301}, 413),
        ({"instructions": "x" * 20_001}, 413),
        ({"picture": "no"}, 400),
        ({"picture": "🍲🍲"}, 400),
        ({"model": "@cf/no/such"}, 400),
        ({"parameters": {"temperature": 9}}, 400),
        ({"parameters": {"heat": 1}}, 400),
        ({"questions": ["a", "b", "c", "d", "e"]}, 400),
        ({"questions": ["x" * 301]}, 413),
        ({"questions": "a"}, 400),
        ({"questions": [1]}, 400),
        ({"owner": 1}, 400),
    ],
)
def test_a_wrong_field_changes_nothing(
    alice_client: Client, pirate: Assistant, wrong: dict, status: int
) -> None:
    for path in (PAGES, f"{PAGES}{pirate.pk}/"):
        response = post(alice_client, path, form(questions=[]) | wrong)
        assert (response.status_code, list(response.json())) == (status, ["error"])
    assert AssistantVersion.objects.count() == 1


def test_a_refused_form_keeps_what_was_typed(alice_client: Client) -> None:
    response = alice_client.post(
        PAGES, form(picture="no", description="Quick meals", temperature="0.5"), **HTML
    )
    shown = response.content.decode()
    assert response.status_code == 400
    assert "The picture must be one emoji." in shown
    assert all(words in shown for words in ("Quick meals", "Cook for two.", "What today?", 'value="0.5"'))


def test_a_person_has_at_most_so_many(alice: User, pirate: Assistant, monkeypatch: Any) -> None:
    monkeypatch.setattr(assistants, "MAX_ASSISTANTS", 2)
    second = assistants.duplicate(alice, pirate.pk)
    with pytest.raises(Conflict):
        assistants.create(alice, PIRATE)
    assistants.delete(alice, second.pk)
    assistants.create(alice, PIRATE)
    with pytest.raises(Conflict):
        assistants.restore(alice, second.pk)


def test_a_conversation_begins_with_the_assistant(alice: User, pirate: Assistant) -> None:
    made = plan(alice, assistant=pirate.pk, system="Be brief.", parameters={"seed": 7})
    assert system_of(made) == "Talk like a pirate to alice.\n\nBe brief."
    assert made.conversation.assistant_version_id == pirate.current_id
    assert made.conversation.parameters == {"temperature": 1.5, "seed": 7}
    reset = plan(alice, assistant=pirate.pk, parameters={"temperature": None})
    assert reset.conversation.parameters == {}


def test_its_model_answers_if_the_person_may_use_it(alice: User) -> None:
    offered = catalog.current.get()
    other = next(model.id for model in offered if model.id != offered.default.id)
    chosen = assistants.create(alice, AssistantContent("Chosen", model=other))
    gone = assistants.create(alice, AssistantContent("Gone", model="@cf/no/such"))
    assert plan(alice, assistant=chosen.pk).conversation.model == other
    assert plan(alice, assistant=chosen.pk, model=offered.default.id).conversation.model == offered.default.id
    assert plan(alice, assistant=gone.pk).conversation.model == offered.default.id


def test_a_conversation_keeps_the_version_it_began_with(alice: User, pirate: Assistant) -> None:
    talk = begun(alice, pirate).conversation
    assistants.edit(alice, pirate.pk, AssistantContent("Parrot", instructions="Repeat."))
    assistants.delete(alice, pirate.pk)
    prune(lambda: False)
    assert system_of(plan(alice, conversation=talk.pk)) == "Talk like a pirate to alice."
    copy = fork(alice, talk, talk.active_leaf_id)
    assert copy.assistant_version_id == talk.assistant_version_id


def test_pruning_deletes_what_no_conversation_uses(alice: User, pirate: Assistant, settings: Any) -> None:
    settings.KEEP_DELETED_DAYS = 30
    talk = begun(alice, pirate).conversation
    for name in ("Second", "Third"):
        assistants.edit(alice, pirate.pk, AssistantContent(name))
    AssistantVersion.objects.update(created=timezone.now() - timedelta(days=2))
    prune(lambda: False)
    assert sorted(pirate.versions.values_list("number", flat=True)) == [1, 3]
    assistants.delete(alice, pirate.pk)
    Assistant.objects.update(deleted=timezone.now() - timedelta(days=31))
    prune(lambda: False)
    assert Assistant.objects.count() == 1  # the conversation goes on
    talk.delete()
    prune(lambda: False)
    assert not Assistant.objects.exists()
    assert not AssistantVersion.objects.exists()


def test_the_variables_are_those_of_the_person(alice: User, settings: Any) -> None:
    alice.first_name, alice.last_name = "Alice", "Liddell"
    with timezone.override("Pacific/Kiritimati"), translation.override("de"):
        today = timezone.localdate()
        text = fill("{name} {language} {date} {time} {other} {{date}} {", alice)
    words = text.split()
    assert words[:3] == ["Alice", "Liddell", "German"]
    assert f"{today.day} {today:%B} {today.year}" in text
    assert "{other} {" in text
    assert text.endswith("} {")


@pytest.mark.parametrize("text", ["🍲", "🇩🇪", "👩🏽‍🍳", "👨‍👩‍👧", "❤️", "🏴‍☠️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"])
def test_an_emoji_is_one_picture(text: str) -> None:
    assert is_emoji(text)
    assert not is_emoji(text * 2)


@pytest.mark.parametrize("text", ["", "a", "1", "<", "a🍲", "🍲a", "\u200d", "🍲" + "\u200d" * 16])
def test_other_text_is_no_picture(text: str) -> None:
    assert not is_emoji(text)


def test_nobody_else_has_a_private_assistant(alice_client: Client, bob: User) -> None:
    theirs = assistants.create(bob, PIRATE)
    strange = {"assistant": str(theirs.pk), "content": "hello"}
    for response in (
        alice_client.get("/", {"assistant": theirs.pk}),
        post(alice_client, "/c/", strange),
        post(alice_client, f"{PAGES}{theirs.pk}/", form(questions=[])),
        *(post(alice_client, f"{PAGES}{theirs.pk}/{what}/") for what in ("delete", "undelete", "duplicate")),
    ):
        assert response.status_code == 404
    assert post(alice_client, "/c/", strange | {"assistant": "x"}).status_code == 400
    assert alice_client.get("/", {"assistant": "x"}).status_code == 400
    assert "Pirate" not in alice_client.get("/").content.decode()
    assert not Conversation.objects.exists()
    assert theirs.versions.count() == 1


def test_an_assistant_is_for_a_new_conversation_only(
    alice_client: Client, alice: User, pirate: Assistant
) -> None:
    talk = Conversation.objects.create(user=alice, title="Boats", model="m")
    sent = {"content": "hello", "assistant": str(pirate.pk)}
    assert post(alice_client, f"/c/{talk.pk}/messages/", sent).status_code == 400


def test_publication_reaches_everybody_or_a_group(alice: User, bob: User, staff: User) -> None:
    mine, few = assistants.create(staff, PIRATE), Group.objects.create(name="few")
    alice.groups.add(few)
    assistants.publish(staff, mine.pk, everybody=False, groups=[few.pk])
    assert assistants.find(alice, mine.pk) == mine
    with pytest.raises(NotFound):
        assistants.find(bob, mine.pk)
    talk = begun(alice, mine).conversation
    assistants.publish(staff, mine.pk, everybody=True, groups=[few.pk])
    assert assistants.find(bob, mine.pk).groups.count() == 0
    assert assistants.duplicate(bob, mine.pk).owner == bob
    assert assistants.withdraw([mine.pk]) == 1
    with pytest.raises(NotFound):
        assistants.find(alice, mine.pk)
    assert system_of(plan(alice, conversation=talk.pk)) == "Talk like a pirate to alice."


def test_a_publication_while_another_ends_reaches_its_groups(staff: User) -> None:
    mine, few = assistants.create(staff, PIRATE), Group.objects.create(name="few")
    to_few: dict[str, Any] = {"everybody": False, "groups": [few.pk]}
    assistants.publish(staff, mine.pk, **to_few)
    during(lambda: assistants.withdraw([mine.pk]), lambda: assistants.publish(staff, mine.pk, **to_few))
    mine.refresh_from_db()
    assert (list(mine.groups.all()), mine.published_by) == ([few], staff)


def test_only_staff_with_the_permission_publishes(
    alice_client: Client, pirate: Assistant, staff: User
) -> None:
    path = f"{PAGES}{pirate.pk}/publish/"
    assert post(alice_client, path, {"everybody": True}).status_code == 403
    User.objects.filter(username="alice").update(is_staff=True)
    assert post(alice_client, path, {"everybody": True}).status_code == 403
    assert not Assistant.objects.published().exists()
    carols, mine = as_(staff), assistants.create(staff, PIRATE)
    few = Group.objects.create(name="few")
    path = f"{PAGES}{mine.pk}/"
    for wrong in (
        {"groups": [999]},
        {"groups": ["1" * 10]},
        {"groups": "few"},
        {"groups": [True]},
        {"everybody": "yes"},
    ):
        assert post(carols, f"{path}publish/", wrong).status_code == 400
    assert 'name="groups"' in carols.get(f"{path}publish/", **HTML).content.decode()
    assert f"{path}publish/" in carols.get(PAGES, **HTML).content.decode()
    carols.post(f"{path}publish/", {"groups": [str(few.pk)]}, **HTML)
    assert list(Assistant.objects.published()) == [mine]
    assert "few" in carols.get(PAGES, **HTML).content.decode()
    carols.post(f"{path}publish/", {}, **HTML)
    assert not Assistant.objects.published().exists()


def test_the_form_of_an_assistant_has_one_button_to_save(staff: User) -> None:
    carols, mine = as_(staff), assistants.create(staff, PIRATE)
    shown = carols.get(f"{PAGES}{mine.pk}/", **HTML).content.decode()
    assert "publish/" not in shown  # a second form would lose what is typed in the first
    assert shown.count('<button class="button strong">') == 1


@pytest.fixture
def published(staff: User) -> Assistant:
    """An assistant for everybody, whose owner may not publish any more."""
    made = assistants.create(staff, AssistantContent("Helper", instructions="Be good."))
    assistants.publish(staff, made.pk, everybody=True, groups=[])
    staff.user_permissions.clear()
    return made


def test_changing_a_published_assistant_needs_the_permission(
    published: Assistant, staff: User, client: Client
) -> None:
    """Otherwise it would give everybody instructions that nobody was allowed to publish."""
    client.force_login(staff)
    changed = post(client, f"{PAGES}{published.pk}/", {"name": "Helper", "instructions": "Be evil."})
    assert changed.status_code == 409
    published.refresh_from_db()
    assert published.current
    assert published.current.instructions == "Be good."
    assert post(client, f"{PAGES}{published.pk}/delete/").status_code == 200


def test_without_the_right_a_restored_assistant_is_private(
    published: Assistant, staff: User, alice: User
) -> None:
    staff = User.objects.get(pk=staff.pk)
    assistants.delete(staff, published.pk)
    assistants.restore(staff, published.pk)
    assert assistants.usable(staff).filter(pk=published.pk).exists()
    assert not assistants.usable(alice).filter(pk=published.pk).exists()


def test_with_the_right_a_restored_assistant_is_published_again(staff: User, alice: User) -> None:
    made = assistants.create(staff, AssistantContent("Helper"))
    assistants.publish(staff, made.pk, everybody=True, groups=[])
    assistants.delete(staff, made.pk)
    assistants.restore(staff, made.pk)
    assert assistants.usable(alice).filter(pk=made.pk).exists()


def test_a_group_that_goes_takes_the_publication_along(staff: User, alice: User) -> None:
    mine, few = assistants.create(staff, PIRATE), Group.objects.create(name="few")
    alice.groups.add(few)
    assistants.publish(staff, mine.pk, everybody=False, groups=[few.pk])
    few.delete()
    assert not assistants.usable(alice).exists()


def test_an_account_takes_its_private_assistants_along(alice: User, bob: User, staff: User) -> None:
    kept, used, gone = (assistants.create(staff, PIRATE) for _ in range(3))
    assistants.publish(staff, used.pk, everybody=True, groups=[])
    talk = begun(bob, used).conversation
    assistants.publish(staff, used.pk, everybody=False, groups=[])
    assistants.publish(staff, kept.pk, everybody=True, groups=[])
    begun(staff, gone)
    staff.delete()
    assert set(Assistant.objects.values_list("pk", "owner")) == {(kept.pk, None), (used.pk, None)}
    assert list(assistants.usable(bob)) == [kept]
    assert system_of(plan(bob, conversation=talk.pk)) == "Talk like a pirate to bob."


def test_a_deletion_is_undone(alice_client: Client, pirate: Assistant) -> None:
    deleted = alice_client.post(f"{PAGES}{pirate.pk}/delete/", **HTML)
    offered = alice_client.get(deleted.headers["Location"], **HTML).content.decode()
    undo = f"{PAGES}{pirate.pk}/undelete/"
    assert undo in offered
    assert f"?assistant={pirate.pk}" not in offered
    assert alice_client.get("/", {"assistant": pirate.pk}).status_code == 404
    assert alice_client.post(undo, **HTML).status_code == 303
    assert f"?assistant={pirate.pk}" in alice_client.get(PAGES, **HTML).content.decode()


def test_the_start_page_shows_the_assistant(alice_client: Client, alice: User, pirate: Assistant) -> None:
    offered = alice_client.get("/", **HTML).content.decode()
    assert f'href="/?assistant={pirate.pk}"' in offered
    shown = alice_client.get("/", {"assistant": pirate.pk}, **HTML).content.decode()
    assert all(words in shown for words in ("Pirate", "Talks like one", "Where is the gold?", "🏴‍☠️"))
    assert f'name="assistant" value="{pirate.pk}"' in shown
    assert "pirate to" not in shown
    assert "isn’t available to you" not in shown
    gone = assistants.create(alice, AssistantContent("Gone", model="@cf/no/such"))
    assert "isn’t available to you" in alice_client.get("/", {"assistant": gone.pk}, **HTML).content.decode()


def test_a_conversation_says_which_assistant_answers(
    alice_client: Client, alice: User, pirate: Assistant
) -> None:
    talk = begun(alice, pirate).conversation
    assistants.edit(alice, pirate.pk, AssistantContent("Parrot"))
    Message.objects.filter(conversation=talk, role="assistant").update(text="Arr.")
    shown = alice_client.get(f"/c/{talk.pk}/", **HTML).content.decode()
    assert "<bdi>Pirate</bdi>" in shown
    assert "with-assistant" in shown


def test_a_page_without_assistants_has_nothing_of_them(alice_client: Client, alice: User) -> None:
    talk = Conversation.objects.create(user=alice, title="Boats", model="m")
    for path in ("/", f"/c/{talk.pk}/"):
        page = alice_client.get(path, **HTML).content.decode().partition("<main")[2]
        assert page
        assert "assistant" not in page.replace('"assistant"', "")


def test_the_administration_lists_and_ends_publications(alice: User, pirate: Assistant, staff: User) -> None:
    mine, carols = assistants.create(staff, AssistantContent("Cook")), as_(staff)
    assistants.publish(staff, mine.pk, everybody=True, groups=[])
    listed = carols.get("/admin/chat/assistant/").content.decode()
    assert "Cook" in listed
    assert "alice" in listed
    assert "Pirate" not in listed  # a private one
    queries = ("q=irat", "q=cOO", "o=1")  # nor do a search and the order by name reveal what it is called
    guessed, found, sorted_ = (carols.get(f"/admin/chat/assistant/?{q}").content.decode() for q in queries)
    assert "alice" not in guessed
    assert "<bdi>Cook</bdi>" in found
    assert sorted_.index("alice") < sorted_.index("<bdi>Cook</bdi>")
    sent = {"action": "withdraw", "_selected_action": [str(mine.pk)]}
    assert carols.post("/admin/chat/assistant/", sent).status_code == 302
    assert not Assistant.objects.published().exists()
