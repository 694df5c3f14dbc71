"""Each address for its owner, a stranger, an anonymous visitor and a disabled user."""

import uuid

import pytest
from django.urls import get_resolver

from tests.server import Server

pytestmark = pytest.mark.database

# address: method, and what the owner gets
ROUTES = {
    "home": ("GET", "/", 200),
    "conversation": ("GET", "/c/{conversation}/", 200),
    "new": ("POST", "/c/", 200),
    "send": ("POST", "/c/{conversation}/messages/", 200),
    "stream": ("GET", "/runs/{run}/stream/", 200),
    "stop": ("POST", "/runs/{run}/stop/", 202),
    "delete": ("POST", "/c/{conversation}/delete/", 200),
}
FOR_EVERYBODY = {"healthz", "readyz"}
PAGES = {"home", "conversation"}


def test_every_address_has_a_row_here() -> None:
    names = {
        pattern.name
        for include in get_resolver().url_patterns
        if getattr(include, "namespace", "") == "chat"
        for pattern in include.url_patterns
    }
    assert names == set(ROUTES) | FOR_EVERYBODY


@pytest.fixture
def hers(server: Server) -> dict[str, str]:
    with server.person("alice").ask("a secret of alice") as stream:
        stream.to_end()
    return {"conversation": stream.conversation, "run": stream.run}


def call(server: Server, who: str, name: str, ids: dict[str, str]):
    method, path, _ = ROUTES[name]
    body = {"content": "hello"} if name in ("new", "send") else None
    return server.person(who).client.request(method, path.format(**ids), json=body)


@pytest.mark.parametrize("name", ROUTES)
def test_the_owner_may(server: Server, hers: dict[str, str], name: str) -> None:
    assert call(server, "alice", name, hers).status_code == ROUTES[name][2]


@pytest.mark.parametrize("name", [name for name in ROUTES if "{" in ROUTES[name][1]])
@pytest.mark.parametrize("who", ["bob", "carol", "root"])
def test_a_stranger_gets_the_same_as_for_what_does_not_exist(
    server: Server, hers, unchanged, name: str, who: str
) -> None:
    foreign = call(server, who, name, hers)
    missing = call(server, who, name, {"conversation": str(uuid.uuid4()), "run": str(uuid.uuid4())})
    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content
    assert "secret" not in foreign.text


@pytest.mark.parametrize("who", ["", "dave"])
@pytest.mark.parametrize("name", ROUTES)
def test_who_is_signed_out_or_disabled_is_sent_to_the_login(
    server: Server, hers, unchanged, name: str, who: str
) -> None:
    answer = call(server, who, name, hers)
    if name in PAGES:
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/accounts/login/?next=/")
    else:
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "signed_out"
    assert "secret" not in answer.text


@pytest.mark.parametrize("name", ["conversation", "send", "stream", "stop", "delete"])
def test_what_its_owner_deleted_is_gone(server: Server, hers, name: str) -> None:
    assert call(server, "alice", "delete", hers).status_code == 200
    assert call(server, "alice", name, hers).status_code == 404
    assert hers["conversation"] not in server.person("alice").get("/").text


def test_deleting_stops_what_is_being_written(server: Server, fake) -> None:
    alice = server.person("alice")
    with alice.ask("fake: words tokens=400 delay=0.05") as stream:
        stream.until(10)
        assert server.person("alice").post(f"/c/{stream.conversation}/delete/").status_code == 200
        stream.to_end()
    assert stream.done["status"] == "stopped"


@pytest.mark.parametrize("who", ["", "alice", "dave"])
def test_everybody_may_ask_how_the_server_is(server: Server, who: str) -> None:
    person = server.person(who)
    assert person.get("/healthz").json() == {"status": "alive"}
    assert person.get("/readyz").json() == {"status": "ready"}
