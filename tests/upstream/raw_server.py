"""A server that writes raw bytes to a socket."""

import asyncio
from contextlib import suppress

from chat.upstream.client import Account

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


class Server:
    """Answers every connection with these pieces and closes it, or keeps it open. `requests` counts them."""

    def __init__(self, pieces: tuple[bytes, ...], pause: float = 0.0, stay: bool = False) -> None:
        self._pieces, self._pause, self._stay = pieces, pause, stay
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests = 0

    async def __aenter__(self) -> "Server":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.account = Account("acc", "token", f"http://127.0.0.1:{port}/client/v4")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.ensure_future(self._respond(reader, writer)))

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.requests += 1
        try:
            for piece in self._pieces:
                writer.write(piece)
                await asyncio.sleep(self._pause)
            while self._stay and await reader.read(1024):
                continue
        except ConnectionError:
            return  # the client had enough
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
