"""Citations wherever their reply is shown: in the page, the shared page, the transcript, and in copies."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.conversations.turns.fork import fork
from chat.limits import MAX_CITATIONS
from chat.models import Attachment, AttachmentFile, Citation, Conversation, Message, SharedLink, User
from chat.rendering.links import is_web_address
from chat.sharing.snapshot import copy
from chat.views.conversations import thread
from tests.support.message_trees import run

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
EVIL = '</blockquote><script>alert(1)</script><img src="https://evil.example/x.png">'


@pytest.fixture
def talk(alice: User) -> Conversation:
    """A question and a reply with three citations of two sources."""
    made = Conversation.objects.create(user=alice, title="Rules", model="m")
    question = Message.objects.create(conversation=made, role="user", text="How?")
    reply = Message.objects.create(conversation=made, role="assistant", text="So.", parent=question)
    Citation.objects.add(
        reply.pk,
        [
            Citation(title="rules.pdf", page=3, text="Third."),
            Citation(title="rules.pdf", page=2, text="Second."),
            Citation(title="<b>A page</b>", url="https://web.example/a?b=1&c=2", text=EVIL),
        ],
    )
    made.active_leaf = reply
    made.save()
    return made


def reply_of(conversation: Conversation) -> Message:
    leaf = conversation.active_leaf
    assert leaf
    return leaf


def stored(conversation: Conversation) -> list[tuple[Any, ...]]:
    rows = Citation.objects.filter(message=conversation.active_leaf).order_by("number")
    return list(rows.values_list("number", "title", "url", "page", "text"))


def test_citations_of_a_failed_transaction_are_stored_later(talk: Conversation) -> None:
    """By then, on SQLite, another row may have the key that they had in it."""
    reply, late = reply_of(talk), [Citation(title="late.pdf", page=1, text="Late.")]
    with transaction.atomic():
        Citation.objects.add(reply.pk, late)
        transaction.set_rollback(True)
    Citation.objects.create(pk=late[0].pk, message=reply, number=4, title="b.pdf", text="Other.")
    Citation.objects.add(reply.pk, late)
    assert [text for *_, text in stored(talk)][-1] == "Late."


def check(page: str) -> None:
    """Both sources, with the passages as text and one link that passes nothing on."""
    assert page.count("<blockquote") == 3
    assert "pages 2, 3" in page
    assert "<script>alert" not in page
    assert '<img src="https://evil' not in page
    assert "&lt;script&gt;alert(1)" in page
    link = re.search(r'<a href="https://web[^>]*>', page)
    assert link
    assert 'href="https://web.example/a?b=1&amp;c=2"' in link[0]
    assert 'rel="nofollow noopener noreferrer"' in link[0]


def test_the_page_and_the_part_show_the_same(client: Client, alice: User, talk: Conversation) -> None:
    client.force_login(alice)
    check(client.get(f"/c/{talk.pk}/").content.decode())
    reply = reply_of(talk)
    run(reply, "complete", cited=3)
    check(client.get(f"/messages/{reply.pk}/outcome/").content.decode())


def test_a_page_without_citations_asks_for_none(talk: Conversation) -> None:
    with CaptureQueriesContext(connection) as with_them:
        thread.read(talk)
    Citation.objects.all().delete()
    with CaptureQueriesContext(connection) as without:
        thread.read(talk)
    assert len(without) == len(with_them) - 1


def test_the_shared_page_shows_those_of_its_time(client: Client, talk: Conversation, settings: Any) -> None:
    settings.SHARING = "permanent"
    reply = reply_of(talk)
    link, token = shared(talk)
    later = Citation(message=reply, number=4, title="later", text="x", created=timezone.now() + timedelta(1))
    later.save()
    page = client.get(f"/s/{token}/").content.decode()
    check(page)
    assert "later" not in page
    bob = User.objects.create_user("bob")
    assert stored(copy(bob, token, "m")) == stored(talk)[:3]
    assert link.leaf_id == reply.pk


def shared(talk: Conversation) -> tuple[SharedLink, str]:
    link = SharedLink(leaf=reply_of(talk), title=talk.title, leaf_length=3)
    token = link.generate_token()
    link.save()
    return link, token


def test_the_transcript_shows_them(reviewer: Client, talk: Conversation) -> None:
    check(reviewer.get(f"/admin/chat/conversation/{talk.pk}/change/").content.decode())


def test_a_fork_names_its_own_attachment(alice: User, talk: Conversation) -> None:
    reply = reply_of(talk)
    file = AttachmentFile.objects.create(sha256="0" * 64)
    picture = Attachment.objects.create(
        owner=alice, message=reply.parent, file=file, media_type="image/png", name="a",
        width=1, height=1, size=1,
    )  # fmt: skip
    Citation.objects.filter(number=1).update(attachment=picture)
    made = fork(alice, talk, reply.pk)
    assert stored(made) == stored(talk)
    attachment = Citation.objects.get(message=made.active_leaf, number=1).attachment
    assert attachment
    assert attachment.pk != picture.pk
    assert attachment.message_id == reply_of(made).parent_id
    picture.delete()
    assert stored(talk) == stored(made)


def test_the_same_citation_is_added_once(talk: Conversation) -> None:
    reply = reply_of(talk)
    again = Citation(title="rules.pdf", page=3, text="Third.")
    Citation.objects.add(reply.pk, [again, Citation(title="new", text="New.")])
    assert [row[:2] for row in stored(talk)][3:] == [(4, "new")]
    Citation.objects.add(reply.pk, [Citation(title=str(n), text="x") for n in range(200)])
    assert len(stored(talk)) == MAX_CITATIONS


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("https://a.example/b?c=d#e", True),
        ("http://a.example", True),
        ("HTTPS://a.example", True),
        ("javascript:alert(1)", False),
        ("https:a.example", False),
        ("//a.example", False),
        ("docs/a.md", False),
        ("https://a.example/b c", False),
        ("https://a.example/\n", False),
        ("https://[::1", False),
        ("", False),
    ],
)
def test_only_a_web_address_becomes_a_link(text: str, good: bool) -> None:
    assert is_web_address(text) is good
