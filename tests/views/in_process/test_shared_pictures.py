"""Pictures of shared messages, of forks and copies, and of conversations under review."""

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chat.conversations.turns.fork import fork
from chat.files import uploads
from chat.files.decoding import EncodedPicture
from chat.models import (
    Attachment,
    AttachmentFile,
    Conversation,
    ConversationAccess,
    Message,
    SharedLink,
    User,
)
from chat.sharing import links
from tests.files import pictures

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture(autouse=True)
def sharing(settings: Any, attachments: Path) -> None:
    settings.SHARING = "permanent"


@pytest.fixture
def talk(alice: User) -> Conversation:
    """A question with a picture and its reply; a further question with another picture."""
    made = Conversation.objects.create(user=alice, title="Cats", model="m")
    parent = None
    for number in range(2):
        content = pictures.jpeg(40 + number)
        picture = uploads.store_picture(
            alice, f"secret {number}.jpg", EncodedPicture(content, "image/jpeg", 40 + number, 48)
        )
        question = Message.objects.create(conversation=made, role="user", text="", parent=parent)
        picture.message, picture.alt = question, f"cat {number}"
        picture.save()
        parent = Message.objects.create(conversation=made, role="assistant", text="A cat.", parent=question)
    made.active_leaf = parent
    made.save()
    return made


@pytest.fixture
def first(talk: Conversation) -> Attachment:
    return Attachment.objects.get(alt="cat 0")


@pytest.fixture
def shared(alice: User, talk: Conversation) -> str:
    """The address of a link to the first turn."""
    reply = talk.messages.filter(role="assistant").earliest("created")
    return f"/s/{links.create(alice, reply.pk, 'never', shows_name=False)[1]}/"


def test_a_shared_page_shows_the_pictures_of_its_branch_only(
    shared: str, first: Attachment, talk: Conversation
) -> None:
    visitor = Client()
    page = visitor.get(shared).content.decode()
    url = f"{shared}attachments/{first.pk}/"
    assert f'<img src="{url}" alt="cat 0"' in page
    assert "secret" not in page
    got = visitor.get(url)
    assert (got.status_code, pictures.opened(got.content).size) == (200, (40, 48))
    assert got["Cache-Control"] == "no-store"
    assert got["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert got["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert "secret" not in got["Content-Disposition"]
    later = Attachment.objects.get(alt="cat 1")
    for other in (later.pk, uuid.uuid4()):
        assert visitor.get(f"{shared}attachments/{other}/").status_code == 404
    assert visitor.get(f"/attachments/{first.pk}/", **JSON).status_code == 401
    assert visitor.get(f"/s/{'x' * 43}/attachments/{first.pk}/").status_code == 404


def test_a_shared_picture_ends_with_its_link(shared: str, first: Attachment) -> None:
    url = f"{shared}attachments/{first.pk}/"
    assert Client().get(url).status_code == 200
    SharedLink.objects.all().delete()
    assert Client().get(url).status_code == 404


def test_a_page_without_pictures_loads_nothing_for_them(shared: str, first: Attachment) -> None:
    assert "attachments" in Client().get(shared).content.decode()
    Attachment.objects.all().delete()
    assert "attachments" not in Client().get(shared).content.decode()


def test_a_fork_has_the_pictures_with_their_names(alice: User, talk: Conversation) -> None:
    made = fork(alice, talk, talk.active_leaf_id)
    copied = Attachment.objects.filter(message__conversation=made).order_by("alt")
    assert [(each.name, each.alt) for each in copied] == [
        ("secret 0.jpg", "cat 0"),
        ("secret 1.jpg", "cat 1"),
    ]
    assert (Attachment.objects.count(), AttachmentFile.objects.count()) == (4, 2)
    assert {each.message.parent_id is None for each in copied if each.message} == {True, False}


def test_a_reader_who_continues_owns_the_shared_pictures(
    client: Client, shared: str, first: Attachment
) -> None:
    bob = User.objects.create_user("bob")
    client.force_login(bob)
    assert client.get(f"/attachments/{first.pk}/").status_code == 404
    made = client.post(f"{shared}continue/", {}, "application/json").json()["conversation"]
    copy = Attachment.objects.get(message__conversation=made)
    assert (copy.owner, copy.name, copy.alt, copy.sha256) == (bob, "picture.jpg", "cat 0", first.sha256)
    assert client.get(f"/attachments/{copy.pk}/").status_code == 200


def test_a_transcript_shows_pictures_and_is_recorded_once(
    reviewer: Client, talk: Conversation, first: Attachment
) -> None:
    page = reviewer.get(f"/admin/chat/conversation/{talk.pk}/change/").content.decode()
    assert f'<img src="/attachments/{first.pk}/" alt="cat 0"' in page
    for each in Attachment.objects.all():
        assert reviewer.get(f"/attachments/{each.pk}/").status_code == 200
    assert ConversationAccess.objects.count() == 1


def test_a_picture_that_is_opened_alone_is_recorded(
    reviewer: Client, alice: User, talk: Conversation, first: Attachment, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        assert reviewer.get(f"/attachments/{first.pk}/").status_code == 200
    entry = ConversationAccess.objects.get()
    assert (entry.reader, entry.owner, entry.conversation) == ("erin", "alice", talk.pk)
    monkeypatch.setattr("chat.accounts.access_log.REPEATED_WITHIN", timedelta(0))
    reviewer.get(f"/attachments/{first.pk}/")
    assert ConversationAccess.objects.count() == 2


def test_a_reviewer_changes_nothing_and_sees_nothing_unsent(
    reviewer: Client, alice: User, talk: Conversation, first: Attachment
) -> None:
    assert reviewer.delete(f"/attachments/{first.pk}/").status_code == 404
    assert reviewer.patch(f"/attachments/{first.pk}/", {"alt": "x"}, "application/json").status_code == 404
    unsent = uploads.store_picture(alice, "x.jpg", EncodedPicture(pictures.jpeg(), "image/jpeg", 64, 48))
    assert reviewer.get(f"/attachments/{unsent.pk}/").status_code == 404
    assert ConversationAccess.objects.count() == 0


def test_staff_without_the_right_sees_nothing(client: Client, first: Attachment) -> None:
    client.force_login(User.objects.create_user("carol", is_staff=True))
    assert client.get(f"/attachments/{first.pk}/").status_code == 404
    assert ConversationAccess.objects.count() == 0
