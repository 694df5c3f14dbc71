"""A run lives until it ends or is stopped, and a draining server waits for it."""

import signal
import socket
import threading
import time
from datetime import datetime

import pytest

from chatsite.settings import DRAIN_SECONDS
from tests.engine.draining import begin_to_stop
from tests.fake_cloudflare.server import Fake
from tests.support.people import CSRF, SESSIONS
from tests.support.server import PATIENCE, Server
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
    stream = alice.asked("hello")
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
    rest = server.person("alice").followed(stream.run, stream.position)
    assert stream.text + rest.text == text
    assert rest.done["status"] == "interrupted"


AT_ONCE = DRAIN_SECONDS - 5  # seconds: much longer than it takes, and less than who drains is given


def test_a_half_sent_request_does_not_hold_it_up(server: Server) -> None:
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
