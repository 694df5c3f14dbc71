"""Tool servers on loopback: a real one that others wrote, one whose tools a test makes, and hostile ones."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp_server_time.server import create_server

from chat.conversations.tools.mcp import servers
from chat.models import McpServer, McpTool

Send = Callable[[dict[str, Any]], Awaitable[None]]
Play = Callable[[Send], Awaitable[None]]
PATIENCE = 20.0


@dataclass
class Host:
    """`seen`: the requests. `play`: what answers in place of the server.

    `changed`: bytes of its answers, and as many that are sent instead.
    """

    server: MCPServer
    url: str
    seen: list[dict[str, Any]] = field(default_factory=list)
    play: Play | None = None
    changed: tuple[bytes, bytes] = (b"", b"")
    is_old: bool = False  # knows only the protocol of 2025, with its sessions
    closed: threading.Event = field(default_factory=threading.Event)  # a client has gone while `play` ran

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The parameters of the calls of tools."""
        bodies = [json.loads(each["body"] or "{}") for each in self.seen]
        return [body["params"] for body in bodies if body.get("method") == "tools/call"]

    def forget(self) -> None:
        self.seen.clear()
        self.closed.clear()
        self.play = None


@contextmanager
def hosted(server: MCPServer) -> Iterator[Host]:
    """Serve it, by the SDK's own application, in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    host = Host(server, f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
    app = _watched(host, server.streamable_http_app())
    running = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: asyncio.run(running.serve([listener])), daemon=True)
    thread.start()
    until = time.monotonic() + PATIENCE
    while not running.started and time.monotonic() < until:
        time.sleep(0.01)
    yield host
    running.should_exit = True
    thread.join(PATIENCE)
    listener.close()


def _watched(host: Host, app: Any) -> Any:
    async def watched(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        host.seen.append({"method": scope["method"], "headers": headers, "body": body.decode()})
        given = [{"type": "http.request", "body": body}]

        async def again() -> Any:
            return given.pop() if given else await receive()

        if host.is_old and b"server/discover" in body:
            await response(b"{}", 404)(send)
            return

        async def send_changed(message: Any) -> None:
            await send(
                message | {"body": message["body"].replace(*host.changed)} if "body" in message else message
            )

        if host.play is None:
            await app(scope, again, send_changed if host.changed[0] else send)
            return
        playing = asyncio.ensure_future(host.play(send))
        gone = asyncio.ensure_future(receive())
        await asyncio.wait([playing, gone], return_when=asyncio.FIRST_COMPLETED)
        if not playing.done():
            host.closed.set()
        playing.cancel()
        gone.cancel()

    return watched


def response(body: bytes = b"", status: int = 200, **headers: str) -> Play:
    """One response to everything."""
    lines = {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}

    async def play(send: Send) -> None:
        pairs = [(name.encode(), value.encode()) for name, value in lines.items()]
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        await send({"type": "http.response.body", "body": body})

    return play


async def silence(send: Send) -> None:
    await asyncio.sleep(3_600)


async def endless(send: Send) -> None:
    """An event that does not end."""
    kind = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": kind})
    while True:
        await send({"type": "http.response.body", "body": b"data: " + b"x" * 65_536, "more_body": True})
        await asyncio.sleep(0)  # whoever has gone takes everything at once


def time_server() -> MCPServer:
    """The reference server of the protocol's authors for times."""
    return create_server("UTC")


def listed(host: Host, name: str = "time", **columns: Any) -> McpServer:
    """A row for a server that the administration has listed."""
    given = {"name": name, "label": name.title(), "url": host.url}
    return McpServer.objects.create(**given | columns)


def allow_all(row: McpServer, **columns: Any) -> None:
    """Allow the tools as they are, and let this process see it."""
    for tool in row.tools.all():
        McpTool.objects.filter(pk=tool.pk).update(accepted=tool.declared, **columns)
    servers.load()
