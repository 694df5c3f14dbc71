"""Invariant 1: a run is a task of the server. Viewers come and go; only stop ends it."""

import socket
import time
from datetime import datetime

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.people import CSRF, SESSIONS
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.database

SLOW = "fake: words tokens=40 delay=0.05"


def status_of(server: Server, run: str) -> str:
    """The stored status once the run has ended."""
    of_it = f"FROM chat_run WHERE id = '{server.database.key(run)}'"
    until(lambda: server.database.value(f"SELECT finished {of_it}"))
    return server.database.value(f"SELECT status {of_it}")


def test_a_run_goes_on_when_its_only_viewer_leaves(server: Server) -> None:
    with server.person("alice").ask(SLOW) as stream:
        stream.until(10)
    assert status_of(server, stream.run) == "complete"
    text = server.database.value("SELECT text FROM chat_message WHERE role = 'assistant'")
    assert text.split() == [f"word{number}" for number in range(1, 41)]


def test_duration_is_equal_live_and_stored(server: Server, fake: Fake) -> None:
    with server.person("alice").ask("fake: held") as stream:
        stream.until(10)
        with server.database.locked():
            fake.go_on()
            time.sleep(1.5)
        stream.to_end()
    times = server.database.rows("SELECT created, finished FROM chat_run")[0]
    created, finished = (datetime.fromisoformat(str(moment)) for moment in times)
    assert stream.done["seconds"] == round((finished - created).total_seconds(), 1)


def test_many_viewers_see_the_same_and_change_nothing(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask(SLOW) as first:
        first.until(10)
        with (
            server.person("alice").follow(first.run) as second,
            server.person("alice").follow(first.run) as third,
        ):
            second.until(20)
            third.to_end()
        first.to_end()
    assert first.text == third.text
    assert first.finished
    assert third.finished
    assert len(server.database.rows("SELECT 1 FROM chat_run")) == 1


def test_stop_keeps_the_text_and_closes_the_upstream(server: Server, fake) -> None:
    alice = server.person("alice")
    with alice.ask("fake: words tokens=400 delay=0.05") as stream:
        stream.until(10)
        began = time.monotonic()
        assert server.person("alice").stop(stream.run).status_code == 202
        stream.to_end()
    assert time.monotonic() - began < 10.0, "less than the twenty that it would take by itself"
    assert stream.done["status"] == "stopped"
    assert stream.finished
    assert server.database.value("SELECT text FROM chat_message WHERE role = 'assistant'") == stream.text
    fake.wait_for(lambda calls: calls[-1]["closed_by_client"])


def test_a_stopped_run_can_be_asked_to_stop_again(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("hello") as stream:
        stream.to_end()
    assert alice.stop(stream.run).status_code == 202
    assert status_of(server, stream.run) == "complete"


def test_a_disconnect_after_sending_does_not_stop_the_run(server: Server) -> None:
    """Also between the storing of the turn and the launch of its run, which is later on busy machines."""
    alice = server.person("alice")
    alice.get("/readyz")
    complete = "SELECT COUNT(*) FROM chat_run WHERE status = 'complete'"
    for number in range(400):
        if number >= 40 and server.database.value(complete) > 5:
            break
        body = b'{"content": "hello"}'
        head = (
            "POST /c/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Cookie: sessionid={SESSIONS['alice']}; csrftoken={CSRF}\r\nX-CSRFToken: {CSRF}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port)) as caller:
            caller.sendall(head.encode() + body)
            time.sleep(number / 4_000)
    unfinished = "SELECT COUNT(*) FROM chat_run WHERE status IN ('queued', 'running')"
    until(lambda: server.database.value(unfinished) == 0)
    assert server.database.value(complete) > 5
