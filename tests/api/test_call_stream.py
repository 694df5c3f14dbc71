"""The frames of a call: when its head is sent, pings, a slow client, and every way of ending."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chat.api import call_stream
from chat.api.call_stream import CallFrames, StreamFormat
from chat.api.errors import ApiError
from chat.engine.generation.api_calls import ActiveCall
from chat.upstream.errors import ErrorKind, UpstreamError
from chat.wire import sse
from chat.wire.delta import Delta
from tests.support.waiting import PATIENCE

BUSY = UpstreamError(ErrorKind.BUSY)


class Encoder(StreamFormat):
    def first(self, delta: Delta) -> bytes:
        return b"first "

    def delta(self, delta: Delta) -> bytes:
        return delta.text.encode()

    def last(self) -> bytes:
        return b" last "

    def error(self, problem: ApiError) -> bytes:
        return f"error {problem.code}".encode()


class Replies:
    """A call whose deltas the test puts; an exception is raised, None ends it."""

    def __init__(self) -> None:
        self.puts: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        self.closed = False
        self.call = SimpleNamespace(pk="1")

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        try:
            while (each := await self.puts.get()) is not None:
                if isinstance(each, Exception):
                    raise each
                yield Delta(each)
        finally:
            self.closed = True


@pytest.fixture
def replies() -> Replies:
    return Replies()


def frames_of(replies: Replies) -> CallFrames:
    return CallFrames(Encoder(cast(ActiveCall, replies)))


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)


async def test_a_reply_is_sent_as_it_comes(replies: Replies) -> None:
    frames = frames_of(replies)
    replies.puts.put_nowait("a")
    await frames.opened()
    stream = frames.frames()
    assert await anext(stream) == b"first a"
    replies.puts.put_nowait("b")
    assert await anext(stream) == b"b"
    replies.puts.put_nowait(None)
    assert await anext(stream) == b" last " + sse.DONE
    assert [each async for each in stream] == []
    assert replies.closed


async def test_an_error_before_the_first_frame_is_raised(replies: Replies) -> None:
    replies.puts.put_nowait(BUSY)
    with pytest.raises(UpstreamError) as raised:
        await frames_of(replies).opened()
    assert raised.value is BUSY


@pytest.mark.parametrize(("error", "code"), [(BUSY, b"model_busy"), (LookupError(), b"server_error")])
async def test_an_error_behind_the_head_is_a_frame(
    replies: Replies, monkeypatch: pytest.MonkeyPatch, error: Exception, code: bytes
) -> None:
    """With a comment before it, because the head does not wait for the first frame for ever."""
    monkeypatch.setattr(call_stream, "HEADERS_SECONDS", 0)
    frames = frames_of(replies)
    await frames.opened()
    stream = frames.frames()
    assert await anext(stream) == sse.PING
    replies.puts.put_nowait(error)
    assert [each async for each in stream] == [b"error " + code]


async def test_pings_come_while_nothing_does(replies: Replies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_stream, "HEADERS_SECONDS", 0)
    monkeypatch.setattr(call_stream, "PING_SECONDS", 0.01)
    frames = frames_of(replies)
    await frames.opened()
    stream = frames.frames()
    assert [await anext(stream) for _ in range(3)] == [sse.PING] * 3
    replies.puts.put_nowait("a")
    seen = [await anext(stream) for _ in range(50)]
    assert b"first a" in seen
    assert sse.PING in seen[seen.index(b"first a") :]
    await stream.aclose()


async def test_a_slow_client_holds_the_model_up(replies: Replies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_stream, "MAX_WAITING_BYTES", 10)
    frames = frames_of(replies)
    for _ in range(20):
        replies.puts.put_nowait("12345")
    for _ in range(100):
        await asyncio.sleep(0)
    assert replies.puts.qsize() == 19
    assert frames.begin() == b"first 12345"
    await until(lambda: replies.puts.qsize() == 16)
    frames.leave()


async def test_a_client_that_leaves_ends_the_call(replies: Replies) -> None:
    frames = frames_of(replies)
    replies.puts.put_nowait("a")
    await frames.opened()
    frames.leave()
    await until(lambda: replies.closed)
    assert frames.ended


async def test_a_request_that_is_cancelled_ends_the_call(replies: Replies) -> None:
    waiting = asyncio.ensure_future(call_stream.stream_reply(Encoder(cast(ActiveCall, replies))))
    await asyncio.sleep(0)
    waiting.cancel()
    await until(lambda: replies.closed)
    assert waiting.cancelled()
