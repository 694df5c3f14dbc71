"""The documents of assistants: their form, the prompts they stand in, who may read them, and their end."""

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from chat.conversations.turns.fork import fork
from chat.conversations.turns.prompt import Prompts
from chat.exceptions import RequestError
from chat.files.problems import QuotaExceeded
from chat.library import assistants
from chat.library.assistants import AssistantContent
from chat.models import (
    Assistant,
    AssistantVersion,
    Attachment,
    Citation,
    Conversation,
    Message,
    SharedLink,
    User,
)
from chat.retention.kinds import prune
from chat.sharing import links
from chat.sharing.snapshot import copy as copied
from chat.upstream.catalog import LlmModel
from tests.files import pictures
from tests.passages.building import built
from tests.passages.stored import document
from tests.support.assistants import begun, plan
from tests.support.clients import as_
from tests.support.readings import forget_readings

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HTML = {"HTTP_ACCEPT": "text/html"}
JSON = {"HTTP_ACCEPT": "application/json"}
PAGES = "/settings/assistants/"
LARGE = LlmModel("@cf/a/b", "B", window=100_000)


@pytest.fixture(autouse=True)
def folder(attachments: Path, settings: Any) -> Path:
    settings.SHARING = "permanent"
    return attachments


@pytest.fixture
def rules(alice: User) -> Attachment:
    return document(alice, ["Chess has kings.", "Go has stones."], "rules.pdf")


@pytest.fixture
def referee(alice: User, rules: Attachment) -> Assistant:
    return assistants.create(alice, AssistantContent("Referee", documents=[rules.pk]))


def published(staff: User) -> tuple[Assistant, Attachment]:
    """An assistant of everybody, and its document."""
    rules = document(staff, ["Chess has kings.", "Go has stones."], "rules.pdf")
    made = assistants.create(staff, AssistantContent("Referee", documents=[rules.pk]))
    assistants.publish(staff, made.pk, everybody=True, groups=[])
    return made, rules


def begin(user: User, assistant: Assistant) -> Conversation:
    """A conversation with the assistant, whose reply cites page 2 of its document."""
    made = begun(user, assistant)
    Message.objects.filter(pk=made.reply.pk).update(text="Both.")
    [source] = made.request.sent_parts
    citation = Citation(title="rules.pdf", attachment_id=source.attachment, page=2, text="Go has stones.")
    Citation.objects.add(made.reply.pk, [citation])
    return made.conversation


def shared_link(talk: Conversation) -> tuple[SharedLink, str]:
    assert talk.active_leaf_id
    return links.create(talk.user, talk.active_leaf_id, "never", shows_name=False)


def form(*files: SimpleUploadedFile, **fields: Any) -> dict[str, Any]:
    return {"name": "Referee", "instructions": "", **fields} | ({"file": files} if files else {})


def note(content: bytes = b"Hello.", name: str = "note.txt") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def names(assistant: Assistant) -> list[str]:
    assistant.refresh_from_db()
    return [each.name for each in Attachment.objects.of_version(assistant.current_id)]


def age(*, days: int = 2) -> None:
    then = timezone.now() - timedelta(days=days)
    AssistantVersion.objects.update(created=then)
    Attachment.objects.update(created=then)


def test_a_form_takes_documents_and_an_edit_removes_some(alice_client: Client, alice: User) -> None:
    made = alice_client.post(PAGES, form(note(), note(b"World.", "../b.txt")), **HTML)
    assert made.status_code == 303, made.content
    referee = Assistant.objects.get(owner=alice)
    assert names(referee) == ["note.txt", "b.txt"]
    first, _second = Attachment.objects.of_version(referee.current_id)
    shown = alice_client.get(f"{PAGES}{referee.pk}/", **HTML).content.decode()
    assert f'name="documents" value="{first.pk}" checked' in shown
    assert f'href="/attachments/{first.pk}/text/"' in shown
    alice_client.post(
        f"{PAGES}{referee.pk}/", form(note(b"Third.", "c.txt"), documents=[str(first.pk)]), **HTML
    )
    assert names(referee) == ["note.txt", "c.txt"]
    alice_client.post(f"{PAGES}{referee.pk}/", form(), **HTML)
    assert names(referee) == []
    assert referee.versions.count() == 3


def test_json_names_uploads(alice_client: Client, alice: User, rules: Attachment) -> None:
    sent = {"name": "Referee", "documents": [str(rules.pk)]}
    made = alice_client.post(PAGES, sent, content_type="application/json")
    assert made.status_code == 201
    assert names(Assistant.objects.get(owner=alice)) == ["rules.pdf"]
    again = alice_client.post(f"{PAGES}{made.json()['id']}/", sent, content_type="application/json")
    assert again.json()["version"] == 1  # nothing has changed


def test_a_refused_form_keeps_its_documents(alice_client: Client, rules: Attachment) -> None:
    response = alice_client.post(PAGES, form(note(), name=" ", documents=[str(rules.pk)]), **HTML)
    assert response.status_code == 400
    added = Attachment.objects.get(name="note.txt")
    shown = response.content.decode()
    assert all(f'value="{each.pk}" checked' in shown for each in (rules, added))
    kept = [str(rules.pk), str(added.pk)]
    assert alice_client.post(PAGES, form(documents=kept), **HTML).status_code == 303
    assert names(Assistant.objects.get()) == ["rules.pdf", "note.txt"]


@pytest.mark.parametrize(
    ("file", "status"),
    [
        (SimpleUploadedFile("a.png", pictures.png()), 415),
        (SimpleUploadedFile("a.txt", b"\0\1\2"), 415),
        (SimpleUploadedFile("a.txt", b"x" * 200_000), 413),
    ],
    ids=["picture", "binary", "large"],
)
def test_a_file_that_is_no_document_is_refused(
    alice_client: Client, settings: Any, file: SimpleUploadedFile, status: int
) -> None:
    settings.ATTACHMENT_MAX_BYTES = 150_000
    response = alice_client.post(PAGES, form(file), **HTML)
    assert response.status_code == status
    assert not Assistant.objects.exists()
    assert not Attachment.objects.exists()


def test_a_picture_among_the_named_ones_is_refused(alice_client: Client, alice: User) -> None:
    told = alice_client.post(
        "/attachments/", {"file": SimpleUploadedFile("a.png", pictures.png())}, **JSON
    ).json()
    sent = {"name": "Referee", "documents": [told["id"]]}
    assert alice_client.post(PAGES, sent, content_type="application/json").status_code == 415
    assert not Assistant.objects.exists()


def test_an_assistant_has_at_most_so_many(alice_client: Client, alice: User) -> None:
    several = [str(document(alice, ["x"], f"{number}.txt").pk) for number in range(9)]
    refused = alice_client.post(
        PAGES, {"name": "Referee", "documents": several}, content_type="application/json"
    )
    assert refused.status_code == 400
    assert "at most" not in refused.json()["error"]["message"]
    sent = {"name": "Referee", "documents": several[:8]}
    assert alice_client.post(PAGES, sent, content_type="application/json").status_code == 201


@pytest.mark.parametrize("wrong", ["x", [1], ["x"], {}, [str(uuid.uuid4())]])
def test_documents_that_are_not_there_are_refused(
    alice_client: Client, referee: Assistant, wrong: Any
) -> None:
    for path in (PAGES, f"{PAGES}{referee.pk}/"):
        response = alice_client.post(
            path, {"name": "New", "documents": wrong}, content_type="application/json"
        )
        assert response.status_code in (400, 404)
    assert AssistantVersion.objects.count() == 1


def test_nobody_names_a_document_of_another_person(alice_client: Client, bob: User, alice: User) -> None:
    theirs = document(bob, ["Secret."])
    question = Message.objects.create(
        conversation=Conversation.objects.create(user=alice, title="t", model="m"), role="user", text="?"
    )
    sent = document(alice, ["Sent."], "sent.txt", message=question)
    for each in (theirs, sent):
        wrong = {"name": "Spy", "documents": [str(each.pk)]}
        response = alice_client.post(PAGES, wrong, content_type="application/json")
        assert response.json()["error"]["code"] == "attachment_not_found"
    assert not Assistant.objects.exists()


def test_the_start_of_a_chat_says_what_the_documents_take(
    alice_client: Client, referee: Assistant, rules: Attachment
) -> None:
    """The message box counts them for the chosen model."""
    start = alice_client.get(f"/?assistant={referee.pk}", **HTML).content.decode()
    assert f'data-id="{rules.pk}" data-tokens="{rules.tokens}"' in start


def test_nothing_is_offered_where_files_are_off(alice_client: Client, settings: Any, alice: User) -> None:
    assert 'name="file"' in alice_client.get(f"{PAGES}new/", **HTML).content.decode()
    settings.ATTACHMENTS = False
    shown = alice_client.get(f"{PAGES}new/", **HTML).content.decode()
    assert 'id="assistant-documents"' not in shown
    assert "multipart" not in shown
    refused = alice_client.post(PAGES, form(note()), **HTML)
    assert refused.status_code == 400
    assert not Attachment.objects.exists()


def test_a_document_of_an_assistant_cannot_be_sent_or_removed(
    alice_client: Client, alice: User, referee: Assistant, rules: Attachment
) -> None:
    assert alice_client.delete(f"/attachments/{rules.pk}/").status_code == 409
    with pytest.raises(RequestError):
        plan(alice, attachments=(rules.pk,))
    talk = begin(alice, referee)
    question = talk.messages.get(role="user")
    response = alice_client.post(
        f"/messages/{question.pk}/edit/",
        {"content": "Who?", "attachments": [str(rules.pk)]},
        content_type="application/json",
    )
    assert response.json()["error"]["code"] == "attachment_not_found"


def test_every_prompt_holds_the_documents(alice: User, referee: Assistant) -> None:
    made = plan(alice, assistant=referee.pk)
    [message] = made.request.messages
    assert "[rules.pdf, page 1]\nChess has kings." in message["content"]
    assert message["content"].endswith("\n\nWho has kings?")
    talk = begin(alice, referee)
    [first, *_more] = plan(alice, conversation=talk.pk).request.messages
    assert first["content"] == message["content"]
    before = Prompts(LARGE).next_context(talk.active_leaf_id)
    lasting = Prompts.of(talk, LARGE).documents
    after = Prompts(LARGE, documents=lasting).next_context(talk.active_leaf_id)
    assert after.tokens == before.tokens + sum(each.tokens for each in lasting)


def test_a_long_document_is_answered_from_its_best_parts(alice: User) -> None:
    pages = [f"Nothing of interest on page {number}. " * 60 for number in range(1, 200)]
    pages[122] += "The gambit of Bologna loses a knight."
    long = document(alice, pages, "openings.pdf")
    short = document(alice, ["Chess has kings."], "rules.txt", media_type="text/plain")
    question = "What is the gambit of Bologna?"
    made = built(Prompts(LARGE, documents=[long]), Prompts.ask, None, question, [short])
    assert "gambit of Bologna loses" in made.messages[0]["content"]
    assert (long.pk, 123) in [(each.attachment, each.page) for each in made.sent_parts]


def test_a_branch_without_its_beginning_keeps_the_documents(alice: User, referee: Assistant) -> None:
    talk = begin(alice, referee)
    parent = talk.active_leaf
    for number in range(30):
        role = "user" if number % 2 == 0 else "assistant"
        parent = talk.messages.create(role=role, text="word " * 900, parent=parent)
    small = LlmModel("@cf/a/s", "S", window=6_000)
    made = Prompts(small, documents=Prompts.of(talk, small).documents).ask(parent.pk, "Kings?")
    assert "Chess has kings." in made.messages[-1]["content"]


def test_the_start_page_shows_the_documents(alice_client: Client, staff: User) -> None:
    referee, rules = published(staff)
    shown = alice_client.get("/", {"assistant": referee.pk}, **HTML).content.decode()
    assert f'href="/attachments/{rules.pk}/text/"' in shown
    assert "rules.pdf" in shown
    assert "2 pages" in shown


def test_readers_are_those_who_may_use_the_assistant(alice_client: Client, bob: User, staff: User) -> None:
    referee, rules = published(staff)
    urls = [f"/attachments/{rules.pk}/{more}" for more in ("", "text/", "text/?page=2")]
    assert [alice_client.get(url).status_code for url in urls] == [200, 200, 200]
    assert alice_client.delete(urls[0]).status_code == 404
    assert alice_client.patch(urls[0], {"alt": "x"}, content_type="application/json").status_code == 404
    assert [Client().get(url).status_code for url in urls] == [401, 302, 302]
    begin(bob, referee)
    assistants.publish(staff, referee.pk, everybody=False, groups=[])
    assert [alice_client.get(url).status_code for url in urls] == [404, 404, 404]
    bobs = as_(bob)
    assert [bobs.get(url).status_code for url in urls] == [200, 200, 200]  # a conversation goes on
    Conversation.objects.filter(user=bob).update(deleted=timezone.now())
    assert [bobs.get(url).status_code for url in urls] == [404, 404, 404]


def test_a_replaced_version_is_nobody_elses(alice_client: Client, staff: User) -> None:
    referee, rules = published(staff)
    assistants.edit(staff, referee.pk, AssistantContent("Referee"))
    assert alice_client.get(f"/attachments/{rules.pk}/text/").status_code == 404
    assert as_(staff).get(f"/attachments/{rules.pk}/text/").status_code == 200


def test_a_citation_opens_the_page_for_users_only(alice_client: Client, alice: User, staff: User) -> None:
    referee, rules = published(staff)
    talk = begin(alice, referee)
    link = f"/attachments/{rules.pk}/text/?page=2#page-2"
    assert link in alice_client.get(f"/c/{talk.pk}/", **HTML).content.decode()
    token = shared_link(talk)[1]
    shared = Client().get(f"/s/{token}/").content.decode()
    assert "Go has stones." in shared
    assert str(rules.pk) not in shared
    assert Client().get(f"/s/{token}/attachments/{rules.pk}/text/").status_code == 404
    User.objects.filter(pk=staff.pk).update(is_superuser=True)
    reviewed = as_(staff).get(f"/admin/chat/conversation/{talk.pk}/change/").content.decode()
    assert "Go has stones." in reviewed
    assert str(rules.pk) not in reviewed
    forget_readings()


def test_a_fork_cites_the_documents_and_a_copy_does_not(alice: User, bob: User, staff: User) -> None:
    referee, rules = published(staff)
    talk = begin(alice, referee)
    cited = Citation.objects.filter(attachment=rules)
    fork(alice, talk, talk.active_leaf_id)
    assert cited.count() == 2
    copied(bob, shared_link(talk)[1], "m")
    assert (cited.count(), Citation.objects.count()) == (2, 3)


def test_a_duplicate_of_anothers_copies_the_documents(alice: User, staff: User, settings: Any) -> None:
    referee, rules = published(staff)
    settings.ATTACHMENT_QUOTA_MB = 0
    with pytest.raises(QuotaExceeded):
        assistants.duplicate(alice, referee.pk)
    assert (Assistant.objects.count(), Attachment.objects.count()) == (1, 1)
    settings.ATTACHMENT_QUOTA_MB = 1
    Attachment.objects.filter(pk=rules.pk).update(tokens=2_000_000)  # a large text in a small file
    with pytest.raises(QuotaExceeded):
        assistants.duplicate(alice, referee.pk)
    Attachment.objects.filter(pk=rules.pk).update(tokens=rules.tokens)
    mine = assistants.duplicate(alice, referee.pk)
    [own] = Attachment.objects.of_version(mine.current_id)
    assert (own.owner, own.sha256, own.pk == rules.pk) == (alice, rules.sha256, False)
    second = assistants.duplicate(alice, mine.pk)
    assert Attachment.objects.of_version(second.current_id) == [own]


def test_a_document_stays_while_a_version_in_use_names_it(alice: User, rules: Attachment) -> None:
    referee = assistants.create(alice, AssistantContent("Referee", documents=[rules.pk]))
    talk = begin(alice, referee)
    assistants.edit(alice, referee.pk, AssistantContent("Referee"))
    assistants.delete(alice, referee.pk)
    age(days=400)
    Assistant.objects.update(deleted=timezone.now() - timedelta(days=400))
    prune(lambda: False)
    [first, *_more] = plan(alice, conversation=talk.pk).request.messages
    assert "Chess has kings." in first["content"]
    talk.delete()
    prune(lambda: False)
    assert not Attachment.objects.exists()


def test_a_replaced_document_goes_with_its_version(alice: User, rules: Attachment) -> None:
    referee = assistants.create(alice, AssistantContent("Referee", documents=[rules.pk]))
    other = document(alice, ["Go."], "go.txt", media_type="text/plain")
    assistants.edit(alice, referee.pk, AssistantContent("Referee", documents=[other.pk]))
    prune(lambda: False)
    assert Attachment.objects.count() == 2
    age()
    prune(lambda: False)
    assert list(Attachment.objects.all()) == [other]


def test_documents_of_a_published_assistant_outlive_its_owner(alice: User, staff: User) -> None:
    referee, rules = published(staff)
    private = document(staff, ["Mine."], "mine.txt")
    unsent = document(staff, ["Unsent."], "unsent.txt")
    assistants.create(staff, AssistantContent("Private", documents=[private.pk]))
    staff.delete()
    age()
    prune(lambda: False)
    assert list(Attachment.objects.values_list("pk", "owner")) == [(rules.pk, None)]
    assert not Attachment.objects.filter(pk=unsent.pk).exists()
    [message] = plan(alice, assistant=referee.pk).request.messages
    assert "Chess has kings." in message["content"]


@pytest.mark.parametrize("what", ["document", "picture"])
def test_an_older_versions_pruning_keeps_an_assistants_files(
    alice: User, rules: Attachment, what: str
) -> None:
    """It takes an attachment without a message for one that was never sent, and knows no other table."""
    if what == "document":
        assistants.create(alice, AssistantContent("Referee", documents=[rules.pk]))
    else:
        made = assistants.create(alice, AssistantContent("Referee"))
        AssistantVersion.objects.filter(pk=made.current_id).update(image=rules)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM chat_attachment WHERE message_id IS NULL")
    assert Attachment.objects.filter(pk=rules.pk).exists()
