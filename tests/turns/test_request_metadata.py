"""Request metadata: the user and the conversation, as the model's servers and a gateway get them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.server import Server

GATEWAY = {"AI_GATEWAY_ID": "team", "AI_GATEWAY_CACHE_TTL": "600", "SITE_URL": "http://chat.example:8000"}


def converse(server: Server, fake: Fake, name: str, times: int = 1) -> tuple[str, list[dict[str, Any]]]:
    """A conversation of so many turns, and the headers of their calls."""
    before = len(fake.calls)
    person = server.person(name)
    path = "/c/"
    for _ in range(times):
        stream = person.asked("fake: words tokens=2", path)
        path = f"/c/{stream.conversation}/messages/"
    return stream.conversation, [
        call["headers"] for call in fake.calls[before:] if "/ai/run/" in call["path"]
    ]


def metadata(headers: dict[str, str]) -> dict[str, str]:
    return json.loads(headers["cf-aig-metadata"])


@pytest.mark.database
def test_a_gateway_learns_who_asks_only_by_pseudonym(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers(**GATEWAY)
    conversation, (first, second) = converse(server, fake, "alice", 2)
    key = str(server.database.value("SELECT id FROM chat_user WHERE username = 'alice'"))
    labels = metadata(first)
    assert (labels["conversation"], labels["site"]) == (conversation, "chat.example")
    assert len(labels["person"]) == 32
    assert labels["person"] not in (key, "alice")
    assert metadata(second) == labels | {"request": metadata(second)["request"]}
    assert metadata(second)["request"] != labels["request"]
    other, (bobs,) = converse(server, fake, "bob")
    assert metadata(bobs)["person"] != labels["person"]
    assert other != conversation
    for headers in (first, second, bobs):
        assert not [value for value in headers.values() if "alice" in value or "bob" in value]


def test_without_a_gateway_nothing_says_who_asks(server: Server, fake: Fake) -> None:
    conversation, (first, second) = converse(server, fake, "alice", 2)
    assert first["x-session-affinity"] == second["x-session-affinity"]
    _, (other,) = converse(server, fake, "alice")
    assert other["x-session-affinity"] != first["x-session-affinity"]
    assert not [name for name in first if name.startswith("cf-aig-")]
    assert not [value for value in first.values() if conversation in value]


def test_a_regenerated_reply_is_another_one(servers: Callable[..., Server], fake: Fake) -> None:
    server = servers(**GATEWAY)
    alice = server.person("alice")
    stream = alice.asked("fake: words tokens=2")
    assert "cf-aig-skip-cache" not in fake.calls[-1]["headers"]
    alice.started(f"/messages/{stream.meta['message']}/regenerate/")
    assert fake.calls[-1]["headers"]["cf-aig-skip-cache"] == "true"
