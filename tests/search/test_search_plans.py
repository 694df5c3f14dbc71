"""A search looks its rows up, and reads no whole table."""

from datetime import UTC

import pytest
from django.db import connection

from chat.models import User
from chat.search import results
from chat.search.query import parse
from chat.search.sqlite import _expression
from tests.admin import plans
from tests.search.conftest import Talk

pytestmark = [pytest.mark.database, pytest.mark.django_db]
TYPED = ("fox", "fo", '"the fox"', "fox -boat", "fox is:pinned", "is:archived", "fox model:x", "in:title fox")


@pytest.mark.parametrize("typed", TYPED)
def test_a_search_reads_no_whole_table(talk: Talk, alice: User, typed: str) -> None:
    for n in range(30):
        talk(f"Fox {n}", ["the fox", "a boat"])
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
            cursor.execute("SET LOCAL enable_mergejoin = off")
            cursor.execute("SET LOCAL enable_hashjoin = off")
    with plans.executed() as queries:
        results.search(alice.pk, parse(typed, UTC), results.Cursor(2**40))
    assert plans.faults_of(queries, plans.Allowed(sorts=True)) == []


def test_two_letters_are_found_by_the_index_of_three() -> None:
    assert '"fo" *' not in _expression(parse("fo", UTC))
    assert '"fox" *' in _expression(parse("fo", UTC))
    assert _expression(parse("fox", UTC)) == '"fox" *'
