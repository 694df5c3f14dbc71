"""Servers that do not keep to the rules: raw bytes from a socket."""

import gzip
import time

import pytest

from chat.upstream import errors, http_transport
from chat.upstream.client import Client, Timeouts
from chat.upstream.errors import ErrorKind
from chat.upstream.providers.ai_gateway import NO_GATEWAY
from tests.support.waiting import PATIENCE
from tests.upstream.asking import Reply, ask
from tests.upstream.raw_server import STREAM, Server

SAID = b'data: {"response":"one "}\n\ndata: {"response":"two"}\n\n'
FINISHED = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
LONG = Timeouts(PATIENCE, PATIENCE, 3 * PATIENCE)
AT_ONCE = PATIENCE / 2  # seconds: less than anything else would be waited for, on machines that are busy


async def served_reply(*pieces: bytes, pause: float = 0.0, stay: bool = False) -> tuple[Reply, int]:
    """Return the client's reading of these bytes, and the number of its requests."""
    async with Server(pieces, pause, stay) as server:
        made = Client(server.account, None, timeouts=LONG, read_interval=0.01)
        reply = await ask(made, "hello")
        await made.aclose()
        return reply, server.requests


CUT = b"%x\r\n%b\r\n" % (len(SAID + FINISHED), SAID + FINISHED)


@pytest.mark.parametrize(
    ("rest", "complete"),
    [
        (b"\r\n" + SAID + DONE, True),
        (b"\r\n" + SAID, False),  # neither a reason nor [DONE]
        (b"\r\n" + SAID + b"data: [DONE]", True),  # without its blank line
        (b"Transfer-Encoding: chunked\r\n\r\n" + CUT, True),  # cut behind the finish reason
        (b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(SAID + DONE), True),  # nobody asked for it
    ],
)
async def test_a_body_that_ends_with_its_connection_is_read(rest: bytes, complete: bool) -> None:
    reply, _ = await served_reply(STREAM + rest)
    assert (reply.text, reply.error, reply.stream.complete) == ("one two", None, complete)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_bytes_may_come_in_any_pieces(size: int) -> None:
    whole = STREAM + b"\r\n" + 'data: {"response":"Grüße 🧑‍🚀 世界"}\r\n\r\n'.encode() + DONE
    reply, _ = await served_reply(*(whole[i : i + size] for i in range(0, len(whole), size)))
    assert (reply.text, reply.error) == ("Grüße 🧑‍🚀 世界", None)


async def test_garbage_in_place_of_compression_is_an_error() -> None:
    reply, calls = await served_reply(STREAM + b"Content-Encoding: gzip\r\n\r\nno gzip at all")
    assert (reply.text, calls) == ("", 3)
    assert reply.kind in {ErrorKind.INTERRUPTED, ErrorKind.UNAVAILABLE}


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\x00\x01\x02\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    ],
)
async def test_a_response_that_is_no_http_is_unavailable(garbage: bytes) -> None:
    reply, calls = await served_reply(garbage)
    assert (reply.kind, calls) == (ErrorKind.UNAVAILABLE, 3)


async def test_an_error_whose_body_is_cut_keeps_its_status() -> None:
    reply, calls = await served_reply(b'HTTP/1.1 401 No\r\nContent-Length: 999\r\n\r\n{"errors":[{"co')
    assert (reply.kind, calls) == (ErrorKind.AUTH, 1)


@pytest.mark.parametrize(
    ("seconds", "rest"),
    [(0.1, b'Content-Length: 99\r\n\r\n{"err'), (PATIENCE, b"\r\n" + b"x" * 200_000)],
    ids=["cut", "without an end"],
)
async def test_an_error_that_never_comes_whole_is_not_waited_for(
    seconds: float, rest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "ERROR_READ_SECONDS", seconds)
    began = time.monotonic()
    reply, calls = await served_reply(b"HTTP/1.1 403 No\r\n" + rest, stay=True)
    assert (reply.kind, calls) == (ErrorKind.NOT_PERMITTED, 1)
    assert time.monotonic() - began < AT_ONCE


async def test_events_of_another_api_are_a_reply_or_an_error() -> None:
    text = b'data: {"type":"response.output_text.delta","delta":"Hi"}\n\n'
    end = b'data: {"type":"response.completed","response":{"status":"completed"}}\n\n'
    reply, calls = await served_reply(STREAM + b"\r\n" + text + end)
    assert (reply.text, reply.error, reply.stream.complete, calls) == ("Hi", None, True, 1)
    other = b'event: response.audio.delta\ndata: {"type":"response.audio.delta","delta":"UklG"}\n\n'
    reply, _ = await served_reply(STREAM + b"\r\n" + other + DONE)
    assert (reply.text, reply.kind) == ("", ErrorKind.UNAVAILABLE)


async def test_a_streams_empty_answer_is_asked_for_whole() -> None:
    empty = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"result":{}}'
    reply, calls = await served_reply(empty)
    assert (reply.text, reply.error, calls) == ("", None, 2)


async def test_nobodys_word_is_taken_for_a_gateways() -> None:
    reply, _ = await served_reply(STREAM + b"cf-ray: ray\r\ncf-aig-log-id: log\r\n\r\n" + SAID + DONE)
    assert (reply.stream.request_id, reply.stream.gateway_log_ref) == ("ray", NO_GATEWAY)


@pytest.mark.parametrize(
    ("seconds", "last", "pause"), [(PATIENCE, DONE, 0.0), (0.3, FINISHED, 0.0), (0.3, FINISHED, 0.1)]
)
async def test_behind_the_end_nothing_is_waited_for_long(
    seconds: float, last: bytes, pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_transport, "LAST_FRAMES_SECONDS", seconds)
    began = time.monotonic()
    reply, _ = await served_reply(STREAM + b"\r\n", SAID, last, pause=pause, stay=True)
    assert (reply.text, reply.error, reply.stream.complete) == ("one two", None, True)
    assert time.monotonic() - began < AT_ONCE


async def test_headers_of_any_size_are_not_kept() -> None:
    reply, _ = await served_reply(STREAM + b"X-Big: " + b"x" * 1_000_000 + b"\r\n\r\n" + SAID + DONE)
    assert reply.kind is ErrorKind.UNAVAILABLE


@pytest.mark.parametrize(
    ("status", "body", "accepted"),
    [
        (b"200 OK", b"<html>log in to the hotel</html>", None),
        (b"200 OK", b'{"result":null}', None),
        (b"200 OK", b'{"result":{"status":"disabled"}}', False),
        (b"401 No", b"{}", False),
        (b"400 No", b"{}", False),
        (b"429 No", b"{}", None),
        (b"503 No", b"{}", None),
        (b"302 No", b"", None),
    ],
)
async def test_a_token_is_called_bad_only_by_cloudflare(
    status: bytes, body: bytes, accepted: bool | None
) -> None:
    whole = b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)
    async with Server((whole,)) as server:
        made = Client(server.account, None)
        assert await made.cloudflare.verify() is accepted
        await made.aclose()
        assert 1 <= server.requests <= 2
