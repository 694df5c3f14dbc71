"""Classification of errors, on real databases: an outage, or a mistake of a statement."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.utils import OperationalError

from chat.db import errors as db_errors
from chat.db.errors import Outage, outage_of, unavailable
from chat.models import Conversation, MaintenanceTask, User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def full() -> Iterator[None]:
    """SQLite takes not a page more, as on a full disk."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no such limit for one connection")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # pages that other tests have freed would take the rows
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages}")
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA max_page_count = {2**32 - 2}")


def test_a_full_disk_is_one_and_stores_nothing(full: None) -> None:
    alice = User.objects.create_user("alice")
    many = [Conversation(user=alice, title="t", model="m", system="x" * 20_000) for _ in range(1_000)]
    with pytest.raises(OperationalError) as raised, transaction.atomic():
        Conversation.objects.bulk_create(many)
    assert outage_of(raised.value) is Outage.FULL
    refusal = unavailable(raised.value)
    assert (refusal.status, refusal.code, refusal.retry_after) == (503, "storage_full", 5)
    assert "disk is full" in refusal.message
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "statement", ["SELECT nothing FROM nowhere", "SELECT FROM WHERE", "INSERT INTO chat_user DEFAULT VALUES"]
)
def test_a_mistake_of_ours_is_none(statement: str) -> None:
    with pytest.raises(DatabaseError) as raised, connection.cursor() as cursor:
        cursor.execute(statement)
    assert outage_of(raised.value) is None
    with pytest.raises(type(raised.value)):
        unavailable(raised.value)


def test_whatever_is_no_error_of_the_database_is_none() -> None:
    assert outage_of(ValueError()) is None


def test_each_outage_has_its_words() -> None:
    assert set(db_errors.OUTAGE_MESSAGES) == set(Outage)


def test_a_task_is_claimed_once_while_it_is_due() -> None:
    day = timedelta(days=1)
    assert not MaintenanceTask.objects.claim("task", day)  # the first time it is only written down
    assert MaintenanceTask.objects.claim("task", day)
    assert not MaintenanceTask.objects.claim("task", day)
