"""The way between a browser and the server, which can break."""

import asyncio
import contextlib
import re
import threading
from collections.abc import Iterator

PIECE = 65_536
ENCODING = re.compile(rb"\r\naccept-encoding: [^\r\n]*", re.IGNORECASE)


class Network:
    """Passes every connection on to `port`, until it is cut or falls silent.

    A browser that is `set_offline` only refuses new connections: what is open stays open, unlike in a tunnel.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._open: set[asyncio.StreamWriter] = set()
        self._down = self._silent = False
        self._mark = b""
        self._go_on = asyncio.Event()
        self.holds = False  # the response with the mark waits
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(5)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break all open connections, and refuse new ones."""
        self._down = True
        self._break()

    def silence(self) -> None:
        """Connections open and stay so, and carry nothing any more: a dead router, a sleeping phone."""
        self._silent = True

    def mend(self) -> None:
        """New connections get through again; what fell silent is gone."""
        if self._silent:
            self._break()
        self._down = self._silent = False

    def hold(self, mark: bytes) -> None:
        """Responses come uncompressed, and the one with `mark` in it stops there until `go_on`."""
        self._mark = mark

    def go_on(self) -> None:
        self._mark = b""
        self._loop.call_soon_threadsafe(self._go_on.set)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def _break(self) -> None:
        asyncio.run_coroutine_threadsafe(self._abort(), self._loop).result(5)

    async def _abort(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def _stop(self) -> None:
        self._server.close()
        await asyncio.sleep(0.05)  # until connections that were just accepted are known
        await self._abort()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await asyncio.sleep(0.05)  # until the transports have closed their sockets

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._down:
            writer.transport.abort()
            return
        with self._known(writer):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
            with self._known(far_writer):
                await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))

    @contextlib.contextmanager
    def _known(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        self._open.add(writer)
        try:
            yield
        finally:
            self._open.remove(writer)
            writer.close()

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await source.read(PIECE):
                if self._mark:
                    piece = ENCODING.sub(b"\r\nAccept-Encoding: identity", piece)
                    head, mark, rest = piece.partition(self._mark)
                    if mark:
                        target.write(head)
                        self.holds = True
                        await self._go_on.wait()
                        piece = mark + rest
                if not self._silent:
                    target.write(piece)
                    await target.drain()
        target.close()
