"""A request has to arrive in time; what is answered, and who waits for a response, has all the time."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.deadline_server import RATE, SECONDS

PATIENCE = 60.0  # seconds
STEP = 0.25  # seconds between two pieces, far less than Twisted's own timeout
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    command = [sys.executable, "-m", "tests.support.deadline_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield int(process.stdout.readline())
        process.terminate()
        assert process.wait(PATIENCE) == 0


@pytest.fixture
def client(port: int) -> Iterator[socket.socket]:
    with closing(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)) as made:
        yield made


def read_to_end(client: socket.socket) -> bytes:
    """Return all bytes until the server closes the connection."""
    received = b""
    try:
        while data := client.recv(65_536):
            received += data
    except ConnectionError:
        return received
    return received


def until(client: socket.socket, end: bytes) -> bytes:
    received = b""
    while end not in received:
        data = client.recv(65_536)
        assert data, received
        received += data
    return received


def drip(client: socket.socket, start: bytes, piece: bytes) -> bytes:
    """Send a piece again and again, until there is a response."""
    client.sendall(start)
    client.settimeout(STEP)
    began = time.monotonic()
    while time.monotonic() < began + PATIENCE:
        try:
            client.sendall(piece)
            received = client.recv(65_536)
        except TimeoutError:
            continue
        except ConnectionError:
            return b""
        client.settimeout(PATIENCE)
        return received + read_to_end(client)
    raise AssertionError("the connection never ended")


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"", b"\r\n"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-A: b\r\n"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"b"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", b"a"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    ],
    ids=["empty lines", "header lines", "bytes of a header", "bytes of a body", "chunks"],
)
def test_a_dripping_request_is_answered_408_and_closed(
    client: socket.socket, start: bytes, piece: bytes
) -> None:
    received = drip(client, start, piece)
    assert received.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 400 "))
    if start:
        assert b'"code": "too_slow"' in received
        assert received.count(b"HTTP/1.1") == 1


def test_a_request_behind_another_one_has_its_deadline_too(client: socket.socket) -> None:
    received = drip(client, b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n", b"X-A: b\r\n")
    received = received if b" 408 " in received else received + read_to_end(client)
    assert b"HTTP/1.1 408 " in received


def test_a_slow_upload_that_goes_on_steadily_arrives(client: socket.socket) -> None:
    pieces = round(2 * SECONDS / STEP)
    piece = b"a" * round(4 * RATE * STEP)
    client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (pieces * len(piece)))
    for _ in range(pieces):
        client.sendall(piece)
        time.sleep(STEP)
    assert b"got %d" % (pieces * len(piece)) in until(client, b"got")


def test_long_responses_and_idle_connections_are_kept(client: socket.socket) -> None:
    client.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    assert until(client, b"got 0").count(b"more ") == 8
    time.sleep(SECONDS * 1.5)
    client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"HTTP/1.1 200" in until(client, b"got 0")


def test_a_body_that_is_too_long_and_never_ends_is_refused_once(client: socket.socket) -> None:
    start = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    received = drip(client, start + b"120000\r\n" + b"a" * 0x120000 + b"\r\n", b"1\r\na\r\n")
    assert received.startswith(b"HTTP/1.1 413 ")
    assert b" 408 " not in received
