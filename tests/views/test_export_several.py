"""Several conversations are exported from their page, those of others left out."""

import asyncio
import io
import zipfile

import pytest
from django.test import Client

from chat.models import Conversation, User


def made(user: User, *titles: str) -> list[Conversation]:
    return [Conversation.objects.create(user=user, title=title, model="m") for title in titles]


@pytest.mark.django_db(transaction=True)
def test_chosen_conversations_are_exported(client: Client) -> None:
    alice, bob = (User.objects.create_user(name) for name in ("alice", "bob"))
    rows, his = made(alice, "Red", "Blue", "Green"), made(bob, "his")
    client.force_login(alice)
    body = {"conversations": [str(row.pk) for row in [*rows[:2], *his]], "page": "list", "tag": ""}
    response = client.post("/conversations/export/", body)
    assert response["Content-Type"] == "application/zip"

    async def whole() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    names = zipfile.ZipFile(io.BytesIO(asyncio.run(whole()))).namelist()
    assert {name for name in names if name.endswith(".json") and "/" in name} == {
        f"conversations/{row.pk}.json" for row in rows[:2]
    }
    assert client.post("/conversations/export/", {"conversations": str(his[0].pk)}).status_code == 404
    assert client.post("/conversations/export/", {}).status_code == 400
