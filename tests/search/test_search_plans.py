"""A search looks its rows up, and reads no whole table."""

from datetime import UTC

import pytest
from django.db import connection

from chat.models import User
from chat.search import postgres, results
from chat.search.query import parse
from chat.search.sqlite import _expression
from chat.search.words import message_tag
from tests.admin import plans
from tests.search.conftest import Talk

pytestmark = [pytest.mark.database, pytest.mark.django_db]
TYPED = ("fox", "fo", '"the fox"', "fox -boat", "fox is:pinned", "is:archived", "fox model:x", "in:title fox")


@pytest.mark.parametrize("typed", TYPED)
def test_a_search_reads_no_whole_table(talk: Talk, alice: User, typed: str) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL reads tables as small as these from end to end")
    talk("Fox", ["the fox", "a boat"])
    with plans.executed() as queries:
        results.search(alice.pk, parse(typed, UTC), results.Cursor(2**40))
    assert plans.faults_of(queries, plans.Allowed(sorts=True)) == []


@pytest.mark.parametrize(("typed", "asked"), [("fox", 2), ("fox model:x", 1), ("fox is:archived", 1)])
def test_a_common_word_is_not_looked_up_in_the_whole_index(
    talk: Talk, alice: User, monkeypatch: pytest.MonkeyPatch, typed: str, asked: int
) -> None:
    """The newest documents are read, and more of them where these promise enough or filters drop some."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite reads the index in its order")
    for name, value in {"RECENT_DOCUMENTS": 10, "MORE_DOCUMENTS": 50, "ENOUGH_RECENT": 8}.items():
        monkeypatch.setattr(postgres, name, value)
    for n in range(30):
        talk(f"Boat {n}", ["the fox", "a boat"])
    with plans.executed() as queries:
        found, has_more = postgres.newest(
            alice.pk, parse(typed, UTC), message_tag(alice.pk), postgres.NO_BOUND, 12
        )
    assert (len(found), has_more) == (12, True)
    assert [sql for sql, _ in queries] == [postgres.RECENT] * asked


def test_two_letters_are_found_by_the_index_of_three() -> None:
    assert '"fo" *' not in _expression(parse("fo", UTC))
    assert '"fox" *' in _expression(parse("fo", UTC))
    assert _expression(parse("fox", UTC)) == '"fox" *'
