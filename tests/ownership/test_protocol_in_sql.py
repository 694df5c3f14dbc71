"""The queries of recovery decide as the rules of the protocol, which the simulation tests."""

import itertools
import uuid

import pytest
from django.utils import timezone

from chat.models import ApiKey, Call, Run, User, Worker
from chat.models.run import ENDED, LIVE, OWNED
from chat.ownership import protocol, recovery
from chat.ownership.protocol import Heartbeat
from tests.support.message_trees import Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db]
EPOCHS = (1, 2, 3)
NUMBERS = (0, 1, 12)


@pytest.fixture
def workers() -> list[Worker]:
    rows = [
        Worker(host="here", pid=1, epoch=epoch, heartbeats=number)
        for epoch, number in itertools.product(EPOCHS, NUMBERS)
    ]
    return Worker.objects.bulk_create(rows)


def lease(worker: Worker | None) -> Heartbeat | None:
    return Heartbeat(worker.epoch, worker.heartbeats) if worker else None


def test_orphaned_runs_are_those_of_the_rule(workers: list[Worker]) -> None:
    """An ended run may still name a worker; a live one does unless it waits, so says a constraint."""
    runs: list[Run] = []
    user = User.objects.create_user("alice")
    for status, epoch, worker in itertools.product((*LIVE, *ENDED), EPOCHS, [None, *workers]):
        if status in ENDED or bool(worker) == (status in OWNED):
            *_, reply = Tree(conversation(user)).grow(None, 2)
            runs.append(run(reply, status, worker=worker, epoch=epoch))
    expected = {
        row.pk for row in runs if row.status in OWNED and protocol.is_orphan(row.epoch, lease(row.worker))
    }
    assert 0 < len(expected) < len(runs)
    assert set(Run.objects.orphaned().values_list("pk", flat=True)) == expected


def test_orphaned_calls_are_those_of_the_rule(workers: list[Worker]) -> None:
    user = User.objects.create_user("alice")
    key = ApiKey.objects.create(user=user, name="a program")
    calls = [
        Call(
            user=user,
            key=key,
            worker=worker,
            epoch=epoch,
            status=status,
            streamed=False,
            finished=None if status == Call.Status.RUNNING else timezone.now(),
        )
        for status, epoch, worker in itertools.product(Call.Status.values, EPOCHS, workers)
    ]
    Call.objects.bulk_create(calls)
    live = [call for call in calls if call.status == Call.Status.RUNNING]
    expected = {call.pk for call in live if protocol.is_orphan(call.epoch, lease(call.worker))}
    assert 0 < len(expected) < len(live)
    assert set(Call.objects.orphaned().values_list("pk", flat=True)) == expected


def test_a_fence_succeeds_where_the_rule_allows_it(workers: list[Worker]) -> None:
    observations = [Heartbeat(epoch, number) for epoch, number in itertools.product(EPOCHS, NUMBERS)]
    for worker, observed in itertools.product(workers, observations):
        before = lease(worker)
        assert recovery.fence(worker.pk, observed) is protocol.may_fence(before, observed)
        worker.refresh_from_db()
        assert worker.epoch == (before.epoch + 1 if before == observed else before.epoch)
        Worker.objects.filter(pk=worker.pk).update(epoch=before.epoch)
        worker.refresh_from_db()
    assert recovery.fence(uuid.uuid4(), observations[0]) is protocol.may_fence(None, observations[0])
