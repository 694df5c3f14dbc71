"""A server of web pages on loopback, which plays each by its path and keeps what it was asked."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from chat.conversations.tools import destinations
from chat.conversations.tools.read_page import ReadPage
from chat.conversations.tools.tool import CallContext, ToolFailed, ToolResult

Play = Callable[[asyncio.StreamWriter], Awaitable[None]]
PARAGRAPH = "<p>" + "The harbour has been open since spring and ships call every day. " * 5 + "</p>"
ARTICLE = f"<!doctype html><title>Harbour</title><main><h1>Harbour</h1>{PARAGRAPH}</main>"


class Pages:
    """`requests`: the heads that came. `open`: how many connections there are now."""

    def __init__(self, host: str, tls: ssl.SSLContext | None) -> None:
        self.host, self._tls = host, tls
        self.requests: list[str] = []
        self.open = 0
        self._plays: dict[str, Play] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, self.host, 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", host: str = "") -> str:
        return f"http{'s' if self._tls else ''}://{host or self.host}:{self.port}{path}"

    def page(
        self, path: str, body: str | bytes = ARTICLE, media_type: str | None = "text/html", **headers: str
    ) -> str:
        """Add a page, and return its address."""
        content = body.encode() if isinstance(body, str) else body
        lines = [f"Content-Length: {len(content)}"]
        lines += [f"Content-Type: {media_type}"] if media_type else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return self.raw(path, "HTTP/1.1 200 OK\r\n" + "\r\n".join(lines) + "\r\n\r\n", content)

    def gzipped(self, path: str, content: bytes) -> str:
        return self.page(path, gzip.compress(content), Content_Encoding="gzip")

    def redirect(self, path: str, target: str, status: int = 302) -> str:
        return self.raw(
            path, f"HTTP/1.1 {status} Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n", b""
        )

    def raw(self, path: str, head: str, content: bytes) -> str:
        async def play(writer: asyncio.StreamWriter) -> None:
            writer.write(head.encode("utf-8", "surrogateescape") + content)

        return self.played(path, play)

    def played(self, path: str, play: Play) -> str:
        self._plays[path] = play
        return self.url(path)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(head)
            play = self._plays.get(head.split(" ")[1].partition("?")[0])
            if play is None:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            else:
                await play(writer)
            await writer.drain()
            await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the client had enough
        finally:
            self.open -= 1
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def serving(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> AsyncIterator[Pages]:
    pages = Pages(host, tls)
    await pages.start()
    try:
        yield pages
    finally:
        await pages.stop()


class Names:
    """A resolver: by name, the answers to each lookup in turn, the last one for ever. `asked`: the names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: dict[str, list[list[str]]] = {}
        self.asked: list[str] = []
        monkeypatch.setattr(destinations, "lookup", self._lookup)

    async def _lookup(self, person: object, host: str, port: int) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        turns = self.answers.get(host)
        if not turns:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answer = turns.pop(0) if len(turns) > 1 else turns[0]
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in answer
        ]


async def read(url: str, *known: str) -> ToolResult:
    return await ReadPage().call({"url": url}, CallContext(1, "c", set(known)))


async def refused(url: str) -> str:
    """Return the sentence with which reading a page fails."""
    with pytest.raises(ToolFailed) as caught:
        await read(url)
    return str(caught.value)
