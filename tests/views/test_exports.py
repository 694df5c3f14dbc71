"""Downloads of one's own conversations: one, several, all."""

import asyncio
import io
import json
import re
import zipfile

import pytest
from django.test import Client

from chat.models import Conversation, User
from tests.support.server import Person, Server


@pytest.fixture(scope="module")
def hers(server: Server) -> str:
    """A conversation of alice's."""
    return server.person("alice").asked("# Why? <b>\nfake: length tokens=3 delay=0").conversation


@pytest.mark.parametrize(
    ("kind", "content_type", "ending"),
    [
        ("markdown", "text/markdown; charset=utf-8", "md"),
        ("json", "application/json", "json"),
        ("html", "text/html; charset=utf-8", "html"),
    ],
)
def test_a_conversation_is_downloaded_as(
    alice: Person, hers: str, kind: str, content_type: str, ending: str
) -> None:
    response = alice.get(f"/c/{hers}/export/?format={kind}")
    assert (response.status_code, response.headers["Content-Type"]) == (200, content_type)
    assert response.headers["Content-Disposition"] == f'attachment; filename="Why b.{ending}"'
    assert response.headers["Cache-Control"] == "no-store"
    assert "Why?" in response.text
    head = alice.client.head(f"/c/{hers}/export/?format={kind}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Disposition"] == response.headers["Content-Disposition"]


def test_the_page_loads_nothing_and_runs_nothing(alice: Person, hers: str) -> None:
    page = alice.get(f"/c/{hers}/export/?format=html").text
    assert "# Why? &lt;b&gt;" in page
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|<img|url\(|@import| on\w+=", page)
    assert page.count("<article") == 2
    assert page.endswith("</html>\n")


@pytest.mark.parametrize("query", ["", "?format=", "?format=pdf", "?format=JSON"])
def test_an_unknown_format_is_refused(alice: Person, hers: str, query: str) -> None:
    response = alice.get(f"/c/{hers}/export/{query}", headers={"Accept": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "“format” must be one of: markdown, json, html."


def test_the_archive_is_downloaded_from_the_settings(alice: Person, hers: str) -> None:
    assert 'href="/settings/data/export/"' in alice.get("/settings/data/").text
    response = alice.get("/settings/data/export/")
    assert re.fullmatch(
        r'attachment; filename="chat-[\d-]{10}\.zip"', response.headers["Content-Disposition"]
    )
    archive = zipfile.ZipFile(io.BytesIO(response.content))
    stored = json.loads(archive.read(f"conversations/{hers}.json"))
    assert stored == alice.get(f"/c/{hers}/export/?format=json").json()


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
