"""A deletion can be taken back until shortly before the conversation goes for good."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, User


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("days", "status"), [(1, 200), (29.99, 404), (31, 404)])
def test_a_conversation_due_for_deletion_cannot_be_restored(client: Client, days: float, status: int) -> None:
    alice = User.objects.create_user("alice")
    client.force_login(alice)
    deleted = timezone.now() - timedelta(days=days)
    talk = Conversation.objects.create(user=alice, title="t", model="m", deleted=deleted)
    for _ in range(2):  # the second time there is nothing to do
        response = client.post(f"/c/{talk.pk}/undelete/", content_type="application/json")
        assert response.status_code == status
    assert (Conversation.objects.get().deleted is None) == (status == 200)
