"""While the database is away: nothing that was seen is lost, and everybody is told."""

import signal
import time

import pytest

from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.database
LONG = "fake: words tokens=2000 delay=0.02"
LAST = "SELECT text FROM chat_message WHERE role = 'assistant' ORDER BY created DESC LIMIT 1"


def test_a_short_outage_is_said_and_taken_back_and_costs_nothing(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask("fake: words tokens=600 delay=0.02") as stream:
        stream.until(50)
        with server.database.locked():
            until(lambda: stream.next() and stream.problems)
            assert stream.problems[0]["code"] == "not_saved"
            assert stream.problems[0]["message"]
        until(lambda: stream.next() and len(stream.problems) > 1)
        assert stream.problems[1]["message"] == ""
        stream.to_end()
    assert stream.done["status"] == "complete"
    assert server.database.value(LAST) == stream.text


def test_a_kill_during_an_outage_loses_at_most_half_a_second(server: Server) -> None:
    """Twice what a busy machine needs between a token and the journal."""
    alice = server.person("alice")
    with alice.ask(LONG) as stream:
        stream.until(50)
        with server.database.locked():
            seen = [(time.monotonic(), len(stream.text))]
            while len(stream.text) < 1_000 and stream.next():
                seen.append((time.monotonic(), len(stream.text)))
            killed = time.monotonic()
            server.kill()
    server.start()
    stored = server.database.value(LAST)
    assert len(stored) >= max(length for when, length in seen if when <= killed - 1.0)
    assert stored.startswith(stream.text) or stream.text.startswith(stored)
    assert server.database.value("SELECT status FROM chat_run") == "interrupted"


def test_a_server_that_ends_during_an_outage_keeps_every_word(servers) -> None:
    server = servers(DRAIN_SECONDS="1")
    with server.person("alice").ask(LONG) as stream:
        stream.until(50)
        with server.database.locked():
            stream.until(500)
            server.signal(signal.SIGTERM)
            stream.to_end()
            assert server.wait() == 0
    assert stream.names[-1] == "reconnect"
    server.start()
    assert server.database.value("SELECT status FROM chat_run") == "interrupted"
    assert server.database.value(LAST).startswith(stream.text)


def test_an_owner_that_was_frozen_stores_what_it_had_shown(servers) -> None:
    """Another host takes it for dead: it shares no folder, so it sees no lock."""
    one, two = servers(), servers(apart=True)
    alice = two.person("alice")
    with one.person("alice").ask(LONG) as stream:
        stream.until(50)
        one.signal(signal.SIGSTOP)
        try:
            elsewhere = alice.followed(stream.run)
            assert elsewhere.done["status"] == "interrupted"
        finally:
            one.signal(signal.SIGCONT)
        stream.to_end()
    assert stream.done["status"] == "interrupted"
    assert one.database.value(LAST) == stream.text
