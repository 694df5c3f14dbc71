"""A connection carries a stream without its request, and the next request after it."""

import http.client
import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from chatsite.server.stream_connection import MAX_ARRIVED_BYTES, StreamConnection
from tests.support.people import SESSIONS
from tests.support.server import Server, Stream
from tests.support.waiting import until
from tests.tools.bench.process import Process

SHORT = "fake: words tokens=30 delay=0.05"
VIEWER_KB = 10
VIEWERS = 1000  # Python takes memory by the megabyte, which is 1 kB for each of so many
WARM_UP = 200  # viewers; what the first ones bring stays


def request(path: str, *lines: str, version: str = "1.1", body: bytes = b"") -> bytes:
    method = "POST" if body else "GET"
    head = (f"Host: localhost\r\nCookie: sessionid={SESSIONS['alice']}", *lines)
    if body:
        head = (*head, f"Content-Length: {len(body)}")
    return "\r\n".join((f"{method} {path} HTTP/{version}", *head, "", "")).encode() + body


def following(stream: Stream, *lines: str, version: str = "1.1") -> bytes:
    return request(f"/runs/{stream.run}/stream/", *lines, version=version)


def connected(server: Server, data: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(data)
    return connection


def read_response(connection: socket.socket) -> http.client.HTTPResponse:
    """Read the head of the next response. Its body is read from the same file."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response


def read(response: http.client.HTTPResponse) -> str:
    return response.read().decode()


def text_of(frames: str) -> str:
    data = [line.removeprefix("data: ") for line in frames.splitlines() if line.startswith("data: {")]
    return "".join(json.loads(line)["response"] for line in data)


def test_a_connection_serves_more_after_a_stream(server: Server) -> None:
    with server.person("alice").ask(SHORT) as stream:
        keeping = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        cookie = {"Cookie": f"sessionid={SESSIONS['alice']}"}
        for _ in range(2):
            keeping.request("GET", f"/runs/{stream.run}/stream/", headers=cookie)
            used = keeping.sock
            response = keeping.getresponse()
            assert text_of(read(response)) == stream.to_end().text
            assert keeping.sock is used
        keeping.request("GET", "/healthz")
        assert keeping.getresponse().status == 200
        assert keeping.sock is used
        keeping.close()


@pytest.mark.parametrize("size", [10, 4 * MAX_ARRIVED_BYTES])
def test_a_request_sent_during_a_stream_is_answered_after_it(server: Server, size: int) -> None:
    with server.person("alice").ask(SHORT) as stream:
        stream.until(5)
        with connected(server, following(stream)) as connection, connection.makefile("rb") as file:
            wrapped: Any = SimpleNamespace(makefile=lambda _: _Unclosed(file))
            response = read_response(wrapped)
            connection.sendall(request("/healthz", body=b"x" * size))
            assert text_of(read(response)) == stream.to_end().text
            assert read_response(wrapped).status == 403  # it has no token against forgery


class _Unclosed:
    """A file that several responses read, one after the other."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    "head", [(("Connection: close",), "1.1"), ((), "1.0")], ids=["Connection: close", "HTTP/1.0"]
)
def test_a_client_that_wants_one_response_is_closed(
    server: Server, head: tuple[tuple[str, ...], str]
) -> None:
    lines, version = head
    with server.person("alice").ask(SHORT) as stream:
        with connected(server, following(stream, *lines, version=version)) as connection:
            response = read_response(connection)
            assert (response.getheader("Transfer-Encoding") == "chunked") is (version == "1.1")
            frames = read(response)
            assert connection.recv(1) == b""
        assert frames.endswith("data: [DONE]\n\n")
        assert text_of(frames) == stream.to_end().text


def test_an_idle_viewer_takes_less_than_10_kilobytes(server: Server) -> None:
    question = "fake: held key=idle after=1 tokens=2"
    with server.person("alice").ask(question) as stream, ExitStack() as open_streams:
        stream.until(1)
        assert server.process
        assert server.process.pid
        process = Process(server.process.pid)

        def watch(viewers: int) -> None:
            for _ in range(viewers):
                connection = open_streams.enter_context(connected(server, following(stream)))
                assert connection.recv(8) == b"HTTP/1.1"

        watch(WARM_UP)
        time.sleep(1.5)  # Daphne looks once a second for what has ended
        before = process.own_memory()
        watch(VIEWERS)
        until(lambda: (process.own_memory() - before) * 1e3 / VIEWERS < VIEWER_KB)
        server.person("alice").stop(stream.run)


class Transport:
    """A transport that keeps what is written; if it is `slow`, it pauses its producer after each write."""

    def __init__(self, *, slow: bool = False) -> None:
        self.producerPaused = False
        self.written = b""
        self.calls: list[str] = []
        self._slow = slow

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: N802 - Twisted's name
        self.producer = producer

    def writeSequence(self, parts: Any) -> None:  # noqa: N802 - Twisted's name
        self.written += b"".join(parts)
        if self._slow:
            self.producer.pauseProducing()

    def __getattr__(self, name: str) -> Callable[[], None]:
        return lambda: self.calls.append(name)


class Source:
    """A stream of `frames`; an exception among them is raised."""

    ended = False

    def __init__(self, *frames: bytes | Exception) -> None:
        self.frames = list(frames)
        self.left = 0

    def next_frame(self) -> bytes:
        frame = self.frames.pop(0)
        self.ended = not self.frames
        if isinstance(frame, Exception):
            raise frame
        return frame

    def leave(self) -> None:
        self.left += 1


def started(transport: Transport, source: Source) -> None:
    channel = SimpleNamespace(transport=transport, factory=None, persistent=False, _dataBuffer=[])
    told: Any = SimpleNamespace(
        channel=channel, chunked=True, code=200, sentLength=0, take_record=lambda: None
    )
    StreamConnection(told, source).start()  # type: ignore[arg-type]


def test_the_last_frame_is_sent_with_the_end() -> None:
    transport, source = Transport(), Source(b"one", b"two")
    started(transport, source)
    assert transport.written == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
    assert source.left == 1
    assert transport.calls[-1] == "loseConnection"


def test_no_frame_is_made_for_a_client_that_does_not_read() -> None:
    transport, source = Transport(slow=True), Source(b"one", b"two", b"three")
    started(transport, source)
    assert source.frames == [b"two", b"three"]
    transport.producer.resumeProducing()
    assert source.frames == [b"three"]
    transport.producer.connectionLost()
    assert source.left == 1


def test_a_stream_that_fails_is_cut_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    transport = Transport()
    started(transport, Source(b"one", ValueError("wrong"), b"two"))
    assert "a stream broke off" in caplog.text
    assert transport.calls[-1] == "abortConnection"
    assert not transport.written.endswith(b"0\r\n\r\n")
    transport.producer.connectionLost()
