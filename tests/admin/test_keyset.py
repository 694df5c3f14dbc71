"""Lists in pages that begin at a row: no row is missed, and none is shown twice."""

import re
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.admin import keyset
from chat.models import Conversation, Run
from tests.admin import seed
from tests.admin.conftest import LIST

pytestmark = [pytest.mark.database, pytest.mark.django_db]
RUNS = "/admin/chat/run/"
LINK = re.compile(r'<a href="(\?[^"]*)"[^>]*>(First|Previous|Next|Last)</a>')
TOTAL = 120
ABSENT = uuid.UUID(int=7)


def links(page: str) -> dict[str, str]:
    """Return the addresses of the other pages by their names."""
    return {name: address.replace("&amp;", "&") for address, name in LINK.findall(page)}


def titles(client: Client, address: str) -> tuple[list[str], dict[str, str]]:
    response = client.get(address)
    assert response.status_code == 200
    shown = [conversation.title for conversation in response.context["cl"].result_list]
    return shown, links(response.content.decode())


@pytest.fixture
def many(db: None) -> list[str]:
    """The titles of conversations in pairs of the same time, in the order of the list."""
    seed.talks("alice", [f"talk {n}" for n in range(TOTAL)])
    rows = list(Conversation.objects.order_by("updated"))
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        Conversation.objects.filter(pk=second.pk).update(updated=first.updated)
    return list(Conversation.objects.order_by("-updated", "-pk").values_list("title", flat=True))


def test_the_pages_have_every_row_once_in_both_directions(reviewer: Client, many: list[str]) -> None:
    first, at = titles(reviewer, LIST)
    second, there = titles(reviewer, LIST + at["Next"])
    third, end = titles(reviewer, LIST + there["Next"])
    assert first + second + third == many
    assert set(end) == {"First", "Previous"}
    assert titles(reviewer, LIST + end["Previous"])[0] == second
    assert titles(reviewer, LIST + there["Previous"])[0] == first
    assert titles(reviewer, LIST + end["First"]) == (first, at)
    last, before_last = titles(reviewer, LIST + at["Last"])
    assert last == many[-50:]
    assert titles(reviewer, LIST + before_last["Previous"])[0] == many[-100:-50]


def test_the_links_keep_the_filters_and_filters_forget_the_page(reviewer: Client, many: list[str]) -> None:
    _, at = titles(reviewer, f"{LIST}?deleted=no")
    assert "deleted=no" in at["Next"]
    page = reviewer.get(LIST + at["Next"]).content.decode()
    assert "after=" not in page.partition('id="changelist-filter"')[2]


@pytest.mark.parametrize("column", ["2", "-2", "7", "-7"])
def test_other_orders_have_pages_too(reviewer: Client, many: list[str], column: str) -> None:
    Conversation.objects.filter(title__endswith="1").update(model="@cf/a/b")
    found, at = titles(reviewer, f"{LIST}?o={column}")
    while "Next" in at:
        more, at = titles(reviewer, LIST + at["Next"])
        found += more
    names = ["model", "updated", "pk"] if column.endswith("2") else ["updated", "pk"]
    ordered = Conversation.objects.order_by(*names)
    wanted = ordered.reverse() if column.startswith("-") else ordered
    assert found == list(wanted.values_list("title", flat=True))


@pytest.mark.parametrize("query", ["after=x", "before=x", "last=x", f"after={ABSENT}", "o=0", "o=1"])
def test_an_unknown_position_or_order_shows_the_first_page(
    reviewer: Client, many: list[str], query: str
) -> None:
    shown, _ = titles(reviewer, f"{LIST}?{query}")
    assert shown == (many[-50:] if query == "last=x" else many[:50])


@pytest.mark.parametrize("query", ["", "last=1", "o=2", "state=complete", "q=Answer"])
def test_rows_are_counted_only_on_a_list_of_one_page(reviewer: Client, many: list[str], query: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        page = reviewer.get(f"{LIST}?{query}").content.decode()
    assert not [each["sql"] for each in queries if "COUNT(*) FROM (" in each["sql"]]
    assert "\n50+ chats" in page
    assert "50 results" not in page
    assert "\n1 chat\n" in reviewer.get(f"{LIST}?q={many[0].split()[1]}").content.decode()


def test_runs_have_pages(administrator: Client) -> None:
    seed.talks("alice", [f"talk {n}" for n in range(60)])
    Run.objects.update(created=timezone.now() - timedelta(days=1))  # all at once
    pages = [administrator.get(RUNS)]
    pages.append(administrator.get(RUNS + links(pages[0].content.decode())["Next"]))
    found = [run.pk for page in pages for run in page.context["cl"].result_list]
    assert found == list(Run.objects.order_by("-pk").values_list("pk", flat=True))


def test_a_value_of_a_column_is_found_without_the_others(reviewer: Client) -> None:
    for number in range(3):
        seed.talks(f"p{number}", ["a", "b"], model=f"@cf/x/{number}")
    assert keyset.distinct_values(Conversation, "model") == [f"@cf/x/{number}" for number in range(3)]
