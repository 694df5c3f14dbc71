"""Invariants 8 and 9: an open stream holds no connection and no thread, and it ends with the right."""

import http.client
import json
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from chat.engine.access_monitor import CHECK_INTERVAL_SECONDS
from chat.wire import sse
from tests.engine.access_check import ONE_CHECK
from tests.support.people import CSRF, PASSWORD, SESSIONS
from tests.support.server import Server
from tests.support.waiting import until

ENDLESS = "fake: words tokens=4000 delay=0.05"


def of_process(server: Server, field: str) -> int:
    """A number of /proc/<pid>/status, such as Threads or VmRSS (in kB)."""
    assert server.process
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(f"{field}:")))


def settled(server: Server) -> int:
    """Return the server's memory in kB once it has stayed the same for two seconds."""
    seen = [0]

    def is_steady() -> bool:
        assert server.person("bob").get("/healthz").status_code == 200
        seen.append(of_process(server, "VmRSS"))
        time.sleep(2)
        return abs(of_process(server, "VmRSS") - seen[-1]) < 200

    until(is_steady)
    return seen[-1]


@pytest.mark.database
def test_a_hundred_open_streams_hold_no_thread_and_no_connection(server: Server) -> None:
    alice = server.person("alice")
    with ExitStack() as open_streams:
        stream = open_streams.enter_context(alice.ask(ENDLESS))
        stream.until(5)
        threads = of_process(server, "Threads")
        for _ in range(100):
            viewer = open_streams.enter_context(server.person("alice").follow(stream.run))
            viewer.until(5)
        assert of_process(server, "Threads") - threads <= 8
        if not server.database.url.startswith("sqlite"):
            name = server.database.url.rsplit("/", 1)[1]
            held = (
                f"SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()"
            )
            assert server.database.value(held) <= 8
        assert server.person("bob").get("/").status_code == 200


def test_a_reader_that_is_behind_misses_nothing(server: Server) -> None:
    """Fill the socket: the rest goes through the event loop, in the same order."""
    with server.person("alice").ask("fake: words tokens=30000 delay=0") as stream, socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", server.port))
        following = http.client.HTTPConnection("127.0.0.1")
        following.sock = reader
        cookie = {"Cookie": f"sessionid={SESSIONS['alice']}"}
        following.request("GET", f"/runs/{stream.run}/stream/", headers=cookie)
        response, decoder, text = following.getresponse(), sse.Decoder(), ""
        while piece := response.read1(3_000):
            for event in decoder.feed(piece):
                text += json.loads(event.data).get("response", "") if event.data.startswith("{") else ""
            time.sleep(0.001)
        assert text == stream.to_end().text


def test_a_reader_that_takes_nothing_costs_no_memory(server: Server) -> None:
    stream = server.person("alice").asked("fake: words tokens=40000 delay=0")
    assert len(stream.text) > 380_000
    request = (
        f"GET /runs/{stream.run}/stream/ HTTP/1.1\r\nHost: localhost\r\n"
        f"Cookie: sessionid={SESSIONS['alice']}\r\n\r\n"
    ).encode()
    with ExitStack() as stalled:

        def stall(readers: int) -> int:
            """Open so many more streams. Return the server's memory then, in kB."""
            for _ in range(readers):
                reader = stalled.enter_context(socket.socket())
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.connect(("127.0.0.1", server.port))
                reader.sendall(request)
            return settled(server)

        before = stall(50)  # what the first ones bring stays
        grown = stall(100) - before
        assert grown < 20_000, "kB; their replies have 40 MB, and nobody took them"
        assert server.person("bob").get("/healthz").status_code == 200


def test_a_right_is_looked_at_in_time_for_five_seconds() -> None:
    assert CHECK_INTERVAL_SECONDS <= 4


@pytest.mark.parametrize("how", ["disabled", "signed out", "new password"])
def test_revoked_access_ends_the_stream_in_five_seconds(server: Server, how: str) -> None:
    alice, bob = server.person("alice"), server.person("bob")
    with alice.ask(ENDLESS) as stream, bob.ask(ENDLESS) as other:
        stream.until(10)
        other.until(10)
        if how == "disabled":
            server.database.rows("UPDATE chat_user SET is_active = false WHERE username = 'alice'")
        elif how == "signed out":
            out = server.person("alice").client.post("/accounts/logout/", data={"csrfmiddlewaretoken": CSRF})
            assert out.status_code in (302, 303)
        else:
            server.database.rows("UPDATE chat_user SET password = 'other' WHERE username = 'alice'")
        lost = time.monotonic()
        stream.to_end()
        assert time.monotonic() - lost < ONE_CHECK
        assert stream.problems[-1]["code"] == "signed_out"
        assert not stream.finished
        other.until(len(other.text) + 20)
    assert PASSWORD not in server.log.read_text()
