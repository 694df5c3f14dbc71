"""The queries of the administration look rows up, however many there are."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from chat.admin import filters
from chat.models import Call, Conversation, TitleRequest
from tests.admin import plans, seed
from tests.admin.conftest import LIST

pytestmark = [pytest.mark.database, pytest.mark.django_db]
LOGS = [f"/admin/chat/{name}/" for name in ("run", "call", "titlerequest")]
MODEL = "@cf/x/y"
ROWS = 2_000  # conversations, calls and title requests
FAILED = {"status": "failed", "error_code": "busy", "error_message": "broken"}
OTHERS = 70  # conversations, each with a call
# Pages on which most rows match; pages that are a range of an index; pages that sort what they have found.
PAGES: dict[str, tuple[plans.Allowed, list[str]]] = {
    "whole lists": (
        plans.Allowed(walks=True),
        [
            *(f"{LIST}?{query}" for query in ("", "last=1", "o=2", "o=-2", "o=7", "deleted=no")),
            *(f"{LIST}?{query}" for query in ("state=complete", "thumbs=none", "after={conversation}")),
            *(f"{log}?{query}" for log in LOGS for query in ("", "last=1", "o=1", "error_code=")),
            *(f"/admin/chat/conversationaccess/{query}" for query in ("", "?last=1")),
        ],
    ),
    "ranges": (
        plans.Allowed(),
        [
            *(f"{LIST}?{query}" for query in (f"model={MODEL}", "updated__gte=2026-11-01 00:00:00Z")),
            *(f"{log}?status__exact={status}" for log in LOGS for status in ("failed", "running")),
            *(f"{log}?model={MODEL}" for log in LOGS),
            *(f"{log}?error_code=busy" for log in LOGS),
        ],
    ),
    "filters": (
        plans.Allowed(sorts=True),
        [
            *(f"{LIST}?state={state}" for state in ("failed", "stopped", "queued", "failed&last=1")),
            *(f"{LIST}?thumbs={thumbs}" for thumbs in ("up", "down", "down&last=1")),
            *(f"{LIST}?{query}" for query in ("deleted=yes", "owner={alice}", f"state=failed&model={MODEL}")),
            *(f"{LIST}?state=failed&{query}" for query in ("thumbs=down&deleted=no", "owner={alice}")),
        ],
    ),
    "searches": (
        plans.Allowed(sorts=True),
        [
            *(f"{LIST}?q={words}" for words in ("rudder", "boats", "rudder boats", '"the rudder"')),
            *(f"{LIST}?q={words}" for words in ("alice", "alice rudder", "bob rudder", "nothing")),
            *(f"{LIST}?q={words}" for words in ("{conversation}", "boats&state=failed")),
            *(f"{log}?q={words}" for log in LOGS for words in ("alice", "req-1", "broken", "nothing")),
        ],
    ),
    "neighbours": (
        plans.Allowed(sorts=True),
        [
            f"{LIST}{{conversation}}/change/?_changelist_filters={query}"
            for query in ("", "state%3Dfailed", "thumbs%3Ddown", "q%3Drudder")
        ],
    ),
}


@pytest.fixture
def site(administrator: Client) -> dict[str, Any]:
    """A site whose lists have many pages, with its statistics."""
    made = seed.talks("alice", ["boats", "cars"], 2, said="The rudder.", status="failed", error_code="busy")
    seed.talks("carol", ["planes"], model=MODEL)
    more = seed.talks("bob", [f"talk {n}" for n in range(ROWS)])
    for number, talk in enumerate([*made, *more[:20]]):
        seed.judge(seed.messages_of(talk)[1], bool(number % 2))
    Conversation.objects.filter(pk=more[-1].pk).update(deleted=timezone.now())
    requests: list[Any] = []
    for number, talk in enumerate(more):
        ended = FAILED if number % 100 == 50 else {"status": "complete"}
        common = ended | {"user": talk.user, "model": seed.MODEL, "created": talk.created}
        requests.append(Call(dialect="openai", streamed=True, finished=talk.created, **common))
        requests.append(TitleRequest(conversation=talk, finished=talk.created, **common))
    Call.objects.bulk_create(requests[::2])
    TitleRequest.objects.bulk_create(requests[1::2])
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # SQLite has statistics only if somebody asks for them
            cursor.execute("ANALYZE")
            # It would join tables of a few rows by reading the whole index of one.
            cursor.execute("SET LOCAL enable_mergejoin = off")
    return {"alice": made[0].user_id, "conversation": made[0].pk}


def test_no_page_of_the_administration_reads_a_whole_table(
    administrator: Client, site: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for name, (allowed, addresses) in PAGES.items():
        with monkeypatch.context() as patched:
            if name == "whole lists":
                patched.setattr(filters, "FEW_RUNS", 0)
            for page in addresses:
                found[page] = plans.faults(administrator, page.format(**site), allowed)
    assert {page: each for page, each in found.items() if each} == {}


def test_a_whole_table_that_is_read_is_found(administrator: Client, site: dict[str, Any]) -> None:
    assert plans.faults(administrator, LIST, plans.Allowed())  # its order is not a condition


def test_no_query_of_a_list_is_compiled(reviewer: Client) -> None:
    """SQLite compiles none. PostgreSQL would, for a count that ends early."""
    asked = [sql for sql, _ in plans.queries(reviewer, f"{LIST}?state=complete")]
    switched = asked.index("SET jit = off") if connection.vendor == "postgresql" else 0
    assert all("chat_conversation" not in sql for sql in asked[:switched])
