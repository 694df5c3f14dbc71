"""A list reads the rows that it shows, whatever else a person has: the plans of its queries say so."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from chat.accounts.sessions import SessionStore
from chat.conversations import tags
from chat.models import Conversation, User
from chat.views.conversations import conversation_pages, sidebar

pytestmark = [pytest.mark.database, pytest.mark.django_db]
MANY = 500
PEOPLE = ("alice", "bert", "cora", "dora")
KINDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "conversation_listed": lambda now: {},
    "conversation_archived": lambda now: {"archived_at": now},
    "conversation_deleted": lambda now: {"deleted": now},
}
LIST_PAGES = dict(
    zip(
        KINDS,
        (conversation_pages.CHAT_LIST, conversation_pages.ARCHIVE, conversation_pages.TRASH),
        strict=True,
    )
)


@pytest.fixture(scope="module")
def many_conversations(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Store many conversations of each kind for alice and others, so that reading all would show.

    The transaction is that of all tests of this file; each runs in a savepoint of it.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        people, now = [User.objects.create_user(name) for name in PEOPLE], timezone.now()
        Conversation.objects.bulk_create(
            Conversation(user=user, title="t", model="m", updated=at, **fields(at))
            for user in people
            for fields in KINDS.values()
            for at in (now - timedelta(minutes=number) for number in range(MANY))
        )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
            if connection.vendor == "postgresql":  # it would scan and sort tables as small as this one
                cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        yield
        transaction.set_rollback(True)


@pytest.fixture
def alice(many_conversations: None) -> User:
    return User.objects.get(username="alice")


def is_walked(rows: QuerySet[Any], index: str) -> bool:
    """Return True if the index gives the order, too. Only rows of the same moment are left to sort."""
    steps = [line.strip().removeprefix("->").strip() for line in str(rows.explain()).splitlines()]
    print(*steps, sep="\n")
    sorts = [step for step in steps if step.startswith(("Sort  (", "Seq Scan")) or "FOR ORDER BY" in step]
    return index in " ".join(steps) and not sorts


@pytest.mark.parametrize("index", KINDS)
@pytest.mark.parametrize("deep", [False, True], ids=["first page", "later page"])
def test_each_list_walks_an_index_of_its_own(alice: User, index: str, deep: bool) -> None:
    list_page = LIST_PAGES[index]
    before = list_page.rows(alice).order_by(f"-{list_page.moment}")[MANY // 2] if deep else None
    rows = sidebar.page_before(list_page.rows(alice), list_page.moment, before)[:100]
    assert is_walked(rows, index)
    assert len(rows) == 100


def test_pinned_ones_are_found_by_an_index(alice: User) -> None:
    chosen = Conversation.objects.listed(alice).values_list("pk", flat=True)[:5]
    Conversation.objects.filter(pk__in=list(chosen)).update(pinned_at=timezone.now())
    assert is_walked(
        Conversation.objects.pinned(alice).order_by("-pinned_at", "-pk")[:50], "conversation_pinned"
    )


def test_the_list_of_a_common_tag_walks_the_index(alice: User) -> None:
    listed = Conversation.objects.listed(alice)
    tags.add_tag(alice, list(listed.values_list("pk", flat=True)), "common")
    tags.add_tag(alice, list(listed.values_list("pk", flat=True)[:3]), "rare")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")

    def shown(name: str) -> QuerySet[Any]:
        return sidebar.page_before(tags.having(listed, alice, name), "updated", None)[:100]

    assert is_walked(shown("Common"), "conversation_listed")
    assert len(shown("common")) == 100
    assert len(shown("rare")) == 3
    assert not shown("none")


@pytest.mark.parametrize("path", ["/conversations/", "/conversations/archive/", "/conversations/trash/"])
def test_a_page_of_a_list_asks_the_same_number_of_questions(alice: User, path: str) -> None:
    few = User.objects.create_user("few")
    for fields in KINDS.values():
        Conversation.objects.create(user=few, title="t", model="m", **fields(timezone.now()))
    counts = []
    for user in (few, alice):
        listed = Conversation.objects.listed(user).values_list("pk", flat=True)[:100]
        tags.add_tag(user, list(listed), "red")
        request = RequestFactory().get(path)
        request.user, request.session = user, SessionStore()
        with CaptureQueriesContext(connection) as queries:
            pages = {reverse(f"chat:{each.name}"): each for each in conversation_pages.LIST_PAGES}
            conversation_pages.render_list_page(request, pages[path])
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 8
