"""Connections whose process stops in the middle of a transaction."""

import time
from collections.abc import AsyncIterator

import pytest
from django.db import connection, transaction
from django.db.backends.signals import connection_created

from chat.db import executor as db
from chat.db.errors import Outage, outage_of
from chat.db.executor import DatabaseExecutor, end_idle_transactions, is_connection_error
from chat.models import User

pytestmark = [pytest.mark.database, pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
LIMIT_SECONDS = 0.2


@pytest.fixture
async def executor(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DatabaseExecutor]:
    """One whose transactions may be idle for a moment only."""
    if connection.vendor == "sqlite":
        pytest.skip("a SQLite file has no server that could end a transaction")
    monkeypatch.setattr(db, "IDLE_TRANSACTION_SECONDS", LIMIT_SECONDS)
    end_idle_transactions()
    made = DatabaseExecutor("db-test")
    yield made
    await made.aclose(5.0)
    connection_created.disconnect(dispatch_uid="end_idle_transactions")


def stop_in_transaction(seconds: float) -> None:
    with transaction.atomic():
        User.objects.create_user("alice")
        time.sleep(seconds)
        User.objects.create_user("bob")


async def test_a_stopped_transaction_is_ended_as_an_outage(executor: DatabaseExecutor) -> None:
    with pytest.raises(Exception, match="idle-in-transaction") as raised:
        await executor(stop_in_transaction, LIMIT_SECONDS * 3)
    assert is_connection_error(raised.value)
    assert outage_of(raised.value) is Outage.AWAY
    await executor(stop_in_transaction, 0)  # over a fresh connection; nothing of the first is stored
