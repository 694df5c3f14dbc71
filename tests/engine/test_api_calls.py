"""A server that ends, or dies, while calls are being answered."""

import signal
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.api.client import CHAT, Program, question
from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.people import PASSWORD
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.database
Start = Callable[..., Server]
SLOW = question("fake: words tokens=4000 delay=0.02")
STATUSES = "SELECT status, error_code FROM chat_call ORDER BY created"


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    made: list[Program] = []

    def make(server: Server, **wanted: Any) -> Program:
        fields = {"name": "a program", "run": True, "password": PASSWORD, **wanted}
        made.append(Program(server.url, server.person("alice").post("/settings/keys/", fields).json()["key"]))
        return made[-1]

    yield make
    for each in made:
        each.client.close()


def test_a_drain_refuses_new_calls_and_lets_short_ones_end(
    servers: Start, program: Callable[..., Program], database: Database, fake: Fake
) -> None:
    server = servers(DRAIN_SECONDS="8")
    short, long, late = program(server), program(server), program(server)
    # Its connection stays open, as the listening socket does not.
    assert late.chat("hello").status_code == 200
    with short.stream(CHAT, question("fake: held")) as events, long.stream(CHAT, SLOW) as others:
        chunks, rest = iter(events), iter(others)
        next(chunks)
        next(rest)
        server.signal(signal.SIGTERM)
        until(lambda: late.client.get("/readyz").status_code == 503)
        refused = late.chat("hello")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
        assert refused.headers["Retry-After"]
        fake.go_on()
        list(chunks)
        assert events.done
        assert list(rest)[-1]["error"]["code"] == "draining"
        assert not others.done
    assert server.wait() == 0
    assert database.rows(STATUSES) == [("complete", ""), ("complete", ""), ("interrupted", "draining")]


@pytest.mark.parametrize("keep", ["usage", "conversations"])
def test_a_crash_hides_no_call(
    servers: Start, program: Callable[..., Program], database: Database, keep: str
) -> None:
    server = servers()
    caller = program(server, keep=keep)
    with caller.stream(CHAT, SLOW) as events:
        chunks = iter(events)
        next(chunks)
        assert database.rows(STATUSES) == [("running", "")]
        server.kill()
        with pytest.raises(httpx.TransportError):
            list(chunks)
    servers()
    until(lambda: database.rows(STATUSES) == [("interrupted", "")])
    questions = database.rows("SELECT text FROM chat_message WHERE role = 'user'")
    assert questions == ([(SLOW["messages"][0]["content"],)] if keep == "conversations" else [])
    runs = database.rows("SELECT status FROM chat_run")
    assert runs == ([("interrupted",)] if keep == "conversations" else [])
