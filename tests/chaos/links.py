"""TCP links that can be taken down: refused, silent, without responses, or slow."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tests.support.server import free_port, give_back

from .faults import How

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: a close sends RST
CHUNK_BYTES = 65536


class Link:
    """A port of ours in front of something; `connect` opens a connection to that."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Streams]],
        *,
        address: str = "127.0.0.1",
        listener: Callable[[int], socket.socket] | None = None,
    ) -> None:
        """`listener` makes the socket on a port of its own choice of address."""
        self.port = free_port()
        self.address = address
        self._listener = listener
        self._connect = connect
        self._open = asyncio.Event()
        self._open.set()
        self._down: str = ""
        self._delay = 0.0
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        if self._listener:
            self._server = await asyncio.start_server(self._accepted, sock=self._listener(self.port))
        else:
            self._server = await asyncio.start_server(self._accepted, self.address, self.port, backlog=1024)

    async def stop(self) -> None:
        self._refuse()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        give_back(self.port)

    def take_down(self, how: str) -> None:
        self._down = how
        if how == How.REFUSED:
            self._refuse()
        else:
            self._open.clear()

    async def bring_up(self) -> None:
        how, self._down = self._down, ""
        if how in (How.LOST, How.UNANSWERED):
            self.reset()
        if how == How.REFUSED:
            await self.start()
        self._open.set()

    def slow_down(self, seconds: float) -> None:
        """Delay everything that is sent by this time; 0 for the usual speed."""
        self._delay = seconds

    def reset(self) -> None:
        """Cut every connection."""
        for writer in list(self._writers):
            _reset(writer)

    def _refuse(self) -> None:
        if self._server:
            self._server.close()
        self._server = None
        self.reset()

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        far = None
        try:
            await self._passable(requests=True)
            far_reader, far = await self._connect()
            self._writers.add(far)
            await self._both(
                self._pump(reader, far, requests=True), self._pump(far_reader, writer, requests=False)
            )
        except OSError:
            _reset(writer)
        finally:
            for each in (writer, far):
                if each:
                    self._writers.discard(each)
                    each.close()

    async def _both(self, *pumps: Awaitable[None]) -> None:
        """Pass bytes on in both directions, until either side has closed."""
        tasks = [asyncio.ensure_future(pump) for pump in pumps]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, requests: bool
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                await self._passable(requests=requests)
                if self._delay:
                    await asyncio.sleep(self._delay)
                writer.write(data)
                await writer.drain()

    async def _passable(self, *, requests: bool) -> None:
        if not (requests and self._down == How.UNANSWERED):
            await self._open.wait()


def _reset(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, AttributeError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
