"""Links do to connections what their names say."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from .faults import How
from .front import Front
from .links import Link, Streams


class Echo:
    """Answers each line with itself, and remembers what it got."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.port = 0

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                self.heard.append(line)
                writer.write(line)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def connect(self) -> Streams:
        return await asyncio.open_connection("127.0.0.1", self.port)


@pytest.fixture
async def echo() -> AsyncIterator[Echo]:
    made = Echo()
    await made.start()
    yield made
    made.server.close()


@pytest.fixture
async def link(echo: Echo) -> AsyncIterator[Link]:
    made = Link(echo.connect)
    await made.start()
    yield made
    await made.stop()


async def connected(link: Link) -> Streams:
    return await asyncio.open_connection("127.0.0.1", link.port)


async def exchange(streams: Streams, line: bytes = b"hello\n", within: float = 20.0) -> bytes:
    streams[1].write(line)
    return await asyncio.wait_for(streams[0].readline(), within)


async def test_a_link_that_is_up_carries_both_ways(link: Link) -> None:
    streams = await connected(link)
    assert await exchange(streams) == b"hello\n"
    streams[1].close()


async def test_refused_cuts_and_refuses_until_it_is_up(link: Link) -> None:
    streams = await connected(link)
    assert await exchange(streams) == b"hello\n"
    link.take_down(How.REFUSED)
    with pytest.raises(ConnectionResetError):
        await asyncio.wait_for(streams[0].read(), 20)
    with pytest.raises(ConnectionRefusedError):
        await connected(link)
    await link.bring_up()
    again = await connected(link)
    assert await exchange(again) == b"hello\n"
    again[1].close()


async def test_silent_holds_everything_back_and_delivers_it_then(link: Link, echo: Echo) -> None:
    streams = await connected(link)
    assert await exchange(streams) == b"hello\n"
    link.take_down(How.SILENT)
    with pytest.raises(TimeoutError):
        await exchange(streams, b"late\n", within=0.2)
    assert echo.heard == [b"hello\n"]
    await link.bring_up()
    assert await asyncio.wait_for(streams[0].readline(), 20) == b"late\n"
    streams[1].close()


@pytest.mark.parametrize(("how", "heard"), [(How.LOST, []), (How.UNANSWERED, [b"write\n"])])
async def test_lost_data_never_arrives(link: Link, echo: Echo, how: How, heard: list[bytes]) -> None:
    streams = await connected(link)
    assert await exchange(streams) == b"hello\n"
    link.take_down(how)
    with pytest.raises(TimeoutError):
        await exchange(streams, b"write\n", within=0.3)
    await link.bring_up()
    with pytest.raises(ConnectionResetError):
        await asyncio.wait_for(streams[0].read(), 20)
    assert echo.heard[1:] == heard


async def test_slow_delays_each_way(link: Link) -> None:
    streams = await connected(link)
    assert await exchange(streams) == b"hello\n"
    link.slow_down(0.1)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await exchange(streams) == b"hello\n"
    assert loop.time() - began > 0.19
    streams[1].close()


async def test_the_front_takes_turns_and_passes_over_who_is_away(echo: Echo) -> None:
    other = Echo()
    await other.start()
    front = Front([("127.0.0.1", echo.port), ("127.0.0.1", other.port)], looks=False)
    await front.start()
    for _ in range(2):
        streams = await connected(front)
        assert await exchange(streams) == b"hello\n"
        streams[1].close()
    assert (len(echo.heard), len(other.heard)) == (1, 1)
    other.server.close()
    for _ in range(2):
        streams = await connected(front)
        assert await exchange(streams) == b"hello\n"
        streams[1].close()
    assert (len(echo.heard), len(other.heard)) == (3, 1)
    await front.stop()
