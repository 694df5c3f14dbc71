"""Invariant 7: SIGTERM drains."""

import signal
import threading
import time

import pytest

from chatsite.settings import DRAIN_SECONDS
from tests.engine.draining import begin_to_stop
from tests.fake_cloudflare.server import Fake
from tests.support.server import PATIENCE, Server

pytestmark = pytest.mark.database


def test_runs_that_end_in_time_end_whole_and_new_sends_wait(server: Server, fake: Fake) -> None:
    alice, bob = server.person("alice"), server.person("bob")
    with alice.ask("fake: held") as stream:
        stream.until(10)
        begin_to_stop(server)
        refused = bob.post("/c/", {"content": "hello"})
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "draining"
        assert int(refused.headers["Retry-After"]) > 0
        stored = server.database.value("SELECT client_key FROM chat_run")
        with server.person("alice").ask("fake: held", client_key=str(stored)) as again:
            again.until(5)
            assert again.run == stream.run
        fake.go_on()
        stream.to_end()
    assert stream.done["status"] == "complete"
    assert stream.finished
    assert server.wait() == 0
    assert server.database.value("SELECT COUNT(*) FROM chat_run WHERE finished IS NULL") == 0
    assert server.database.value("SELECT COUNT(*) FROM chat_message WHERE role = 'user'") == 1


def test_after_the_grace_viewers_reconnect_and_text_is_kept(servers) -> None:
    server = servers(DRAIN_SECONDS="1")
    with server.person("alice").ask("fake: words tokens=2000 delay=0.02") as stream:
        stream.until(50)
        server.signal(signal.SIGTERM)
        stream.to_end()
    assert stream.names[-1] == "reconnect"
    assert not stream.finished
    assert server.wait() == 0
    status, text = server.database.rows(
        f"SELECT r.status, m.text FROM chat_run r JOIN chat_message m ON m.id = r.message_id"
        f" WHERE r.id = '{server.database.key(stream.run)}'"
    )[0]
    assert status == "interrupted"
    assert text.startswith(stream.text)
    server.start()
    with server.person("alice").follow(stream.run, stream.position) as rest:
        rest.to_end()
    assert stream.text + rest.text == text
    assert rest.done["status"] == "interrupted"


AT_ONCE = DRAIN_SECONDS - 5  # seconds: much longer than it takes, and less than who drains is given


def test_an_idle_server_stops_at_once(server: Server) -> None:
    started = time.monotonic()
    assert server.terminate() == 0
    assert time.monotonic() - started < AT_ONCE


def test_a_half_sent_request_does_not_hold_it_up(server: Server) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(b"POST /c/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        time.sleep(0.2)
        assert server.terminate(AT_ONCE) == 0


def test_a_second_signal_ends_it_at_once_and_still_saves(server: Server) -> None:
    with server.person("alice").ask("fake: words tokens=2000 delay=0.02") as stream:
        stream.until(50)
        begin_to_stop(server)
        reader = threading.Thread(target=stream.to_end)
        reader.start()
        started = time.monotonic()
        server.signal(signal.SIGINT)
        assert server.wait() == 0
        assert time.monotonic() - started < AT_ONCE
        reader.join(PATIENCE)
    assert server.database.value("SELECT status FROM chat_run") == "interrupted"
