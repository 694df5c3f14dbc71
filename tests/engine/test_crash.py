"""Invariants 4 and 6: what was on the screen half a second ago is stored, and a dead process's runs end."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.server import Server, Stream
from tests.support.waiting import until

pytestmark = pytest.mark.database
ENDLESS = "fake: words tokens=20000 delay=0.02"


def read_for(stream: Stream, seconds: float) -> list[tuple[float, int]]:
    """Return (time, length of the text seen by then) for each event, from the first word on."""
    stream.until(1)
    seen, end = [], time.monotonic() + seconds
    while time.monotonic() < end and stream.next():
        seen.append((time.monotonic(), len(stream.text)))
    return seen


def test_kill_9_loses_half_a_second_and_restart_ends_the_run(server: Server) -> None:
    """Accept one success in three: other work on the machine can delay the server for longer."""
    for _ in range(3):
        stored, seen = killed_and_started_again(server)
        assert seen > 0
        if stored >= seen:
            return
    pytest.fail(f"only {stored} of the {seen} characters that had been seen half a second ago are stored")


def killed_and_started_again(server: Server) -> tuple[int, int]:
    """Return the length of the stored text, and of the text seen half a second before the kill."""
    alice = server.person("alice")
    with alice.ask(ENDLESS) as stream:
        seen = read_for(stream, 2.3)
        killed = time.monotonic()
        server.kill()
    half_a_second_ago = max(length for when, length in seen if when <= killed - 0.5)
    server.start()
    # Before it serves anything: nobody has to wait for the heartbeat of a process that is known to be dead.
    assert server.database.rows("SELECT DISTINCT status FROM chat_run") == [("interrupted",)]
    again = alice.followed(stream.run)
    assert again.done["status"] == "interrupted"
    assert stream.text.startswith(again.text) or again.text.startswith(stream.text)
    last = "SELECT text FROM chat_message WHERE role = 'assistant' ORDER BY created DESC LIMIT 1"
    assert server.database.value(last) == again.text
    assert server.database.value("SELECT COUNT(*) FROM chat_runchunk") == 0
    return len(again.text), half_a_second_ago


def test_viewers_ahead_of_the_stored_text_are_reset(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask(ENDLESS) as stream:
        stream.until(100)
        server.kill()
    server.start()
    again = alice.followed(stream.run, str(len(stream.text) + 100_000))
    assert "reset" in again.names
    assert again.done["status"] == "interrupted"


def test_survivor_ends_runs_of_a_process_that_died(servers) -> None:
    """The survivor shares no folder with the dead one, so only the heartbeat tells."""
    one, two = servers(), servers(apart=True)
    with one.person("alice").ask(ENDLESS) as stream:
        stream.until(50)
        with two.person("alice").follow(stream.run) as elsewhere:
            elsewhere.until(20)
            one.kill()
            died = time.monotonic()
            elsewhere.to_end()
    assert elsewhere.done["status"] == "interrupted"
    assert time.monotonic() - died < 40.0  # it has 15 where nothing else runs


def test_a_queued_run_of_a_dead_process_ends_too(server: Server) -> None:
    alice = server.person("alice")
    with alice.ask(ENDLESS) as stream:
        stream.until(10)
        server.kill()
    server.database.rows("UPDATE chat_run SET status = 'queued'")
    server.start()
    assert server.database.value("SELECT status FROM chat_run") == "interrupted"


def test_start_leaves_runs_of_a_living_process(servers, fake: Fake) -> None:
    one = servers()
    with one.person("alice").ask("fake: held") as stream:
        stream.until(10)
        servers()  # in the same folder: its start sweeps at once
        fake.go_on()
        stream.to_end()
    assert stream.done["status"] == "complete"


def test_done_is_said_only_after_it_is_stored(server: Server) -> None:
    for number in range(10):
        with server.person("alice").ask(f"hello {number}") as stream:
            while stream.done is None:
                stream.next()
            stored = server.database.rows("SELECT status FROM chat_run ORDER BY created DESC LIMIT 1")
            assert stored == [("complete",)]


@contextmanager
def heartbeats_wait(database: Database, processes: int) -> Iterator[None]:
    """Let the heartbeats of so many processes wait in the middle of their transactions."""
    waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
    waiting += " AND wait_event_type = 'Lock' AND query LIKE 'SELECT DISTINCT%chat_call%'"
    with psycopg.connect(database.url) as other:
        other.execute("LOCK TABLE chat_call IN ACCESS EXCLUSIVE MODE")
        until(lambda: database.value(waiting) == processes)
        yield
        other.rollback()


@pytest.mark.postgres
def test_a_process_frozen_in_a_transaction_blocks_nobody(servers) -> None:
    """Or one whose host is gone, of which PostgreSQL may learn after hours."""
    one, two = servers(apart=True), servers(apart=True)
    if one.database.url.startswith("sqlite"):
        pytest.skip("a SQLite file has one lock for all")
    with one.person("alice").ask(ENDLESS) as stream:
        stream.until(50)
        with heartbeats_wait(one.database, 2):
            one.signal(signal.SIGSTOP)
        frozen = time.monotonic()
        try:
            elsewhere = two.person("alice").followed(stream.run)
            assert time.monotonic() - frozen < 40.0  # it has 15 where nothing else runs
            two.person("bob").asked("hello")
        finally:
            one.signal(signal.SIGCONT)
        stream.to_end()
    assert stream.done["status"] == elsewhere.done["status"] == "interrupted"
    assert stream.text.startswith(elsewhere.text)
    stored = one.database.value(
        "SELECT text FROM chat_message WHERE role = 'assistant' ORDER BY created LIMIT 1"
    )
    assert stored == stream.text


@pytest.mark.postgres
def test_a_database_that_drops_every_connection_costs_no_word(server: Server) -> None:
    if server.database.url.startswith("sqlite"):
        pytest.skip("a SQLite file has no server that could drop connections")
    name = server.database.url.rsplit("/", 1)[1]
    drop = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    alice = server.person("alice")
    with alice.ask("fake: words tokens=60 delay=0.03") as stream:
        for length in (30, 100, 200):
            stream.until(length)
            server.database.rows(drop)
        stream.to_end()
    assert stream.done["status"] == "complete"
    assert server.database.value("SELECT text FROM chat_message WHERE role = 'assistant'") == stream.text
    assert alice.get(f"/c/{stream.conversation}/").status_code == 200
