"""The queries of a conversation's tree look rows up, whatever SQLite believes about the size of the table."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.models import Message
from tests.admin import seed

SCAN = re.compile(r"\bSCAN [cm]\b")
QUERIES: dict[str, Callable[[Any], Any]] = {
    "branch": lambda leaf: Message.objects.branch(leaf, 1_000),
    "leaf": lambda leaf: Message.objects.active_leaf_below(leaf),
    "path": lambda leaf: list(Message.objects.ancestors(leaf, 1_000)),
    "recent": lambda leaf: Message.objects.recent(leaf, 1_000, 1_000),
}


def plan(query: Callable[[Any], Any], leaf: Any) -> str:
    with CaptureQueriesContext(connection) as queries:
        query(leaf)
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + queries[0]["sql"].strip().replace("%", "%%"))
        return str(cursor.fetchall())


@pytest.mark.django_db
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("turns", [1, 50])
def test_no_message_is_scanned_after_an_early_analyze(name: str, turns: int) -> None:
    """One of these turns is all that ANALYZE saw."""
    talk = seed.talk(turns=turns)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    assert talk.active_leaf
    found = plan(QUERIES[name], talk.active_leaf.pk)
    assert "SEARCH" in found
    assert not SCAN.search(found), found
