"""The list of shared links in the administration: read by reviewers, revoked by administrators."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, ConversationAccess, Message, SharedLink, User
from chat.sharing import links

pytestmark = pytest.mark.django_db
LIST = "/admin/chat/sharedlink/"


@pytest.fixture
def link(alice: User) -> SharedLink:
    talk = Conversation.objects.create(user=alice, title="A secret title", model="m")
    message = Message.objects.create(conversation=talk, role="user", text="hello")
    return links.create(alice, message.pk, "7", shows_name=False)[0]


def revoke(client: Client, link: SharedLink) -> int:
    return client.post(LIST, {"action": "revoke", "_selected_action": [str(link.pk)]}).status_code


def test_a_reviewer_sees_who_shares_but_no_title(reviewer: Client, link: SharedLink) -> None:
    page = reviewer.get(LIST).content.decode()
    assert "<bdi>alice</bdi>" in page
    assert f"/admin/chat/conversation/{link.leaf.conversation_id}/change/?leaf={link.leaf_id}" in page
    assert "A secret title" not in page
    assert not ConversationAccess.objects.exists()


def test_a_reviewer_does_not_revoke_a_link(reviewer: Client, link: SharedLink) -> None:
    revoke(reviewer, link)
    assert SharedLink.objects.exists()


def test_an_administrator_revokes_a_link(administrator: Client, link: SharedLink) -> None:
    assert revoke(administrator, link) == 302
    assert not SharedLink.objects.exists()


@pytest.mark.parametrize(
    "lookup", ["title__startswith=A+secret", "leaf__text__contains=hello", "digest__gt=0", "leaf_length=5"]
)
def test_no_lookup_tells_what_a_title_holds(reviewer: Client, link: SharedLink, lookup: str) -> None:
    """The response is the same whether the words are there: none of these searches leaves a record."""
    assert reviewer.get(f"{LIST}?{lookup}").status_code == 400


def test_the_filters_of_the_list_work(reviewer: Client, link: SharedLink) -> None:
    for lookup in ("shows_name__exact=0", "created__gte=2020-01-01+00:00:00Z", "q=alice"):
        assert "<bdi>alice</bdi>" in reviewer.get(f"{LIST}?{lookup}").content.decode()


def test_the_list_has_pages_without_a_count(reviewer: Client, link: SharedLink) -> None:
    SharedLink.objects.bulk_create(
        SharedLink(leaf=link.leaf, title="a", leaf_length=1, digest=f"{number}") for number in range(60)
    )
    with CaptureQueriesContext(connection) as queries:
        first = reviewer.get(LIST)
    assert not [each["sql"] for each in queries if "COUNT(" in each["sql"]]
    (following,) = re.findall(r'<a href="(\?after=[^"]+)"', first.content.decode())
    second = reviewer.get(LIST + following)
    found = [each.pk for page in (first, second) for each in page.context["cl"].result_list]
    assert found == list(SharedLink.objects.order_by("-created", "-pk").values_list("pk", flat=True))


def test_a_search_looks_the_people_up_first(reviewer: Client, link: SharedLink) -> None:
    """Else the owner of each link is read, to compare the name."""
    for words, found in {"lic": 1, "ALICE a": 1, "alice bob": 0, "nobody": 0}.items():
        with CaptureQueriesContext(connection) as queries:
            page = reviewer.get(f"{LIST}?q={words}")
        assert len(page.context["cl"].result_list) == found, words
        assert any("chat_sharedlink" in each["sql"] for each in queries) == bool(found), words
