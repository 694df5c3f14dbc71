"""The queries of the administration look rows up, however many there are."""

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from chat.admin import filters, keyset
from chat.models import (
    Call,
    Conversation,
    ConversationAccess,
    ConversationAccessOwner,
    SharedLink,
    TitleRequest,
)
from tests.admin import plans, seed
from tests.admin.conftest import LIST

pytestmark = [pytest.mark.database, pytest.mark.django_db]
LOGS = [f"/admin/chat/{name}/" for name in ("run", "call", "titlerequest")]
MODEL = "@cf/x/y"
ROWS = 2_000  # conversations, calls and title requests
FAILED = {"status": "failed", "error_code": "busy", "error_message": "broken"}
# Pages on which most rows match; pages that are a range of an index; pages that sort what they have found.
PAGES: dict[str, tuple[plans.Allowed, list[str]]] = {
    "whole lists": (
        plans.Allowed(walks=True),
        [
            *(f"{LIST}?{query}" for query in ("", "last=1", "o=2", "o=-2", "o=7", "deleted=no")),
            *(f"{LIST}?{query}" for query in ("state=complete", "thumbs=none", "after={conversation}")),
            *(f"{log}?{query}" for log in LOGS for query in ("", "last=1", "o=1", "error_code=")),
            *(f"/admin/chat/conversationaccess/?{query}" for query in ("", "last=1", "q=alice", "q=nobody")),
            *(f"/admin/chat/sharedlink/?{query}" for query in ("", "last=1", "shows_name__exact=0", "q=bob")),
        ],
    ),
    "ranges": (
        plans.Allowed(),
        [
            *(f"{LIST}?{query}" for query in (f"model={MODEL}", "updated__gte=2026-11-01 00:00:00Z")),
            *(f"{LIST}?deleted=yes{query}" for query in ("", "&last=1", "&after={conversation}", "&o=2")),
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
            *(f"{LIST}?{query}" for query in ("owner={alice}", f"state=failed&model={MODEL}")),
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
    made = seed.talks("alice", ["boats", "cars"], 2, reply="The rudder.", status="failed", error_code="busy")
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
    SharedLink.objects.bulk_create(
        SharedLink(leaf_id=talk.active_leaf_id, title="a talk", leaf_length=1, digest=talk.pk.hex)
        for talk in more
    )
    accesses = ConversationAccess.objects.bulk_create(
        ConversationAccess(at=talk.created, kind="list", reader_key=1, reader="erin") for talk in more
    )
    ConversationAccessOwner.objects.bulk_create(
        ConversationAccessOwner(access=each, owner_key=1, owner="bob") for each in accesses
    )
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


def test_the_latest_run_is_looked_up_where_one_has_the_status(
    administrator: Client, site: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failed runs are of the oldest conversations, so that all others are passed before."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite does not count look-ups")
    monkeypatch.setattr(filters, "FEW_RUNS", 0)
    queries = plans.queries(administrator, f"{LIST}?state=failed")
    (listing,) = [each for each in queries if '"title"' in each[0] and '"updated" DESC' in each[0]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {listing[0]}", listing[1])
        (looked_up,) = re.findall(r'"Alias": "u0", .*?"Actual Loops": (\d+)', json.dumps(cursor.fetchone()))
    assert 2 <= int(looked_up) <= 10


def test_a_whole_table_that_is_read_is_found(administrator: Client, site: dict[str, Any]) -> None:
    assert plans.faults(administrator, f"{LIST}?deleted=no", plans.Allowed())  # its order is no condition


def test_no_query_of_a_list_is_compiled(reviewer: Client) -> None:
    """SQLite compiles none. PostgreSQL would, for what ends early."""
    queries = [sql for sql, _ in plans.queries(reviewer, f"{LIST}?state=complete")]
    switched = queries.index(keyset.PLANNING) if connection.vendor == "postgresql" else 0
    assert all("chat_conversation" not in sql for sql in queries[:switched])


CONVERSATIONS = """
INSERT INTO chat_conversation (id, user_id, title, model, system, created, updated, last_seen)
SELECT gen_random_uuid(), %s, 'a talk of ' || n, '@cf/x/y', '', now(), now() - n * INTERVAL '1 minute', now()
FROM generate_series(1, 30000) n
"""
FAILED_RUNS = """
INSERT INTO chat_message (id, conversation_id, role, text, reasoning, model, created)
SELECT id, id, 'user', 'x', '', '', created FROM chat_conversation ORDER BY id LIMIT 1500;
INSERT INTO chat_run (id, user_id, conversation_id, message_id, client_key, fingerprint, model, max_tokens,
    status, stop_requested, text_offset, text_length, reasoning_offset, reasoning_length, answered_by,
    fallback_reason, finish_reason, error_code, error_message, request_id, gateway, gateway_log,
    gateway_cached, served_by, created, finished)
SELECT id, c.user_id, id, id, id, 'f', 'm', 1, 'failed', false, 0, 0, 0, 0, '', '', '', 'busy', '', '', '',
    '', false, '', created, created FROM chat_conversation c ORDER BY id LIMIT 1500;
ANALYZE
"""


def test_postgresql_finds_many_keys_by_the_index(reviewer: Client) -> None:
    """With the default costs it reads 30,000 rows to find 1,500. The plans above are those without scans."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite looks keys up")
    with connection.cursor() as cursor:
        cursor.execute(CONVERSATIONS, [seed.person("alice").pk])
        for statement in FAILED_RUNS.split(";"):
            cursor.execute(statement)
    for page in ("state=failed", "state=failed&last=1", "state=failed&deleted=no", "state=failed&o=2"):
        for sql, parameters in plans.queries(reviewer, f"{LIST}?{page}"):
            if "ANY" in sql:
                with connection.cursor() as cursor:
                    cursor.execute(f"EXPLAIN {sql}", parameters)
                    assert "Seq Scan on chat_conversation" not in str(cursor.fetchall()), (page, sql[:300])
