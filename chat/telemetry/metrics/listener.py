"""The listener of METRICS_BIND: a few lines of HTTP that show the metrics, and nothing else of the site."""

import asyncio
import socket
from contextlib import suppress

from . import exposition

MAX_HEADER_BYTES = 16_384
REQUEST_SECONDS = 10.0  # longest time for a client to send its request, and to take the response
MAX_CONNECTIONS = 16  # at a time; a further one takes the place of the oldest, which is idle


async def serve(sock: socket.socket) -> None:
    """Answer requests until cancelled."""
    open_writers: dict[asyncio.StreamWriter, None] = {}  # the oldest first

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(open_writers) >= MAX_CONNECTIONS:
            oldest = next(iter(open_writers))
            del open_writers[oldest]
            oldest.close()
        open_writers[writer] = None
        try:
            await _respond(reader, writer)
        finally:
            open_writers.pop(writer, None)

    async with await asyncio.start_server(accept, sock=sock, limit=MAX_HEADER_BYTES) as server:
        await server.serve_forever()


async def _respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
        async with asyncio.timeout(REQUEST_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(await _response(head.decode("latin-1")))
            await writer.drain()
    writer.close()


async def _response(head: str) -> bytes:
    request, *lines = head.split("\r\n")
    method, _, rest = request.partition(" ")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if rest.split(" ")[0].split("?")[0] != "/metrics":
        return _message("404 Not Found", b"The metrics are at /metrics.\n")
    if method not in ("GET", "HEAD"):
        return _message("405 Method Not Allowed", b"", "Allow: GET, HEAD")
    if not exposition.may_read(headers.get("authorization", "")):
        challenge = f"WWW-Authenticate: {exposition.CHALLENGE}"
        return _message("401 Unauthorized", b"METRICS_TOKEN is needed.\n", challenge)
    body = await exposition.render()
    return _message("200 OK", body, f"Content-Type: {exposition.CONTENT_TYPE}", only_head=method == "HEAD")


def _message(status: str, body: bytes, *headers: str, only_head: bool = False) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers)
    return "\r\n".join((*lines, "", "")).encode("latin-1") + (b"" if only_head else body)
