"""A file that is sent, removed, pruned or given to an assistant, each while another of these is stored."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from chat.conversations.turns import attached
from chat.exceptions import AttachmentNotFound
from chat.library import assistants
from chat.library.assistants import AssistantContent
from chat.models import Attachment, Conversation, Message, User
from chat.retention.kinds import prune
from tests.passages.stored import document
from tests.support.concurrency import during
from tests.support.db_threads import close_connections

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def alice_client(client: Client, alice: User) -> Iterator[Client]:
    """Alice's browser, of a server that has answered before."""
    client.force_login(alice)
    client.delete(f"/attachments/{uuid.uuid4()}/")
    yield client
    asyncio.run(close_connections())  # before PostgreSQL has to delete the database


@pytest.fixture
def rules(alice: User, attachments: Path) -> Attachment:
    """An upload that was not sent for a day."""
    made = document(alice, ["Chess has kings."], "rules.pdf")
    made.created = timezone.now() - timedelta(hours=25)
    made.save()
    return made


def send(upload: Attachment) -> Message:
    with transaction.atomic():
        assert upload.owner
        talk = Conversation.objects.create(user=upload.owner, title="Chess", model="m")
        question = Message.objects.create(conversation=talk, role="user", text="Who may win?")
        attached.save([upload], question)
        return question


def give(upload: Attachment) -> Any:
    assert upload.owner
    return assistants.create(upload.owner, AssistantContent("Referee", documents=[upload.pk]))


def remove(upload: Attachment) -> None:
    Attachment.objects.filter(pk=upload.pk).delete()


def test_a_file_that_is_being_sent_is_not_pruned(rules: Attachment) -> None:
    found = during(lambda: send(rules), lambda: prune(lambda: False))
    assert found["files that were never sent"] == 0
    rules.refresh_from_db()
    assert rules.message


def test_a_file_being_given_to_an_assistant_is_not_pruned(rules: Attachment) -> None:
    found = during(lambda: give(rules), lambda: prune(lambda: False))
    assert found["files that were never sent"] == 0
    assert rules.assistant_links.count() == 1


def test_a_file_that_is_being_sent_is_not_removed(rules: Attachment, alice_client: Client) -> None:
    assert (
        during(lambda: send(rules), lambda: alice_client.delete(f"/attachments/{rules.pk}/").status_code)
        == 409
    )
    rules.refresh_from_db()
    assert rules.message


def test_the_text_of_a_file_that_is_being_removed_is_refused(rules: Attachment, alice_client: Client) -> None:
    body: Any = {"data": {"alt": "a board"}, "content_type": "application/json"}
    described = during(lambda: remove(rules), lambda: alice_client.patch(f"/attachments/{rules.pk}/", **body))
    assert described.status_code == 404


@pytest.mark.parametrize("first", [remove, send])
def test_no_assistant_gets_a_file_that_is_being_sent_or_removed(
    rules: Attachment, first: Callable[[Attachment], Any]
) -> None:
    assert isinstance(during(lambda: first(rules), lambda: give(rules)), AttachmentNotFound)


def test_no_question_gets_a_file_being_given_to_an_assistant(rules: Attachment) -> None:
    assert isinstance(during(lambda: give(rules), lambda: send(rules)), AttachmentNotFound)
    rules.refresh_from_db()
    assert rules.message is None
