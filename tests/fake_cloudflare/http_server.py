"""Just enough HTTP/1.1 on asyncio streams for a fake server that must control every byte and every ending."""

import asyncio
import json
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

REASONS = {
    200: "OK",
    204: "No Content",
    302: "Found",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
}
BATCH = 200  # frames written at once when there is no delay between them


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def keep_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


class Connection:
    """One client: `request` reads what it asks, the methods below write the response's bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._buffer = b""
        self._chunked = False
        self.peer = "{}:{}".format(*writer.get_extra_info("peername"))  # tells kept connections from new ones
        self.ended = False  # the response is complete, so the connection can serve the next request

    async def request(self) -> Request | None:
        """The next request, or None when the client has closed the connection."""
        self.ended = False
        head = await self._until(b"\r\n\r\n")
        if head is None:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return Request(method, target, headers, await self._chunked_body())
        return Request(method, target, headers, await self._exactly(int(headers.get("content-length", 0))))

    async def gone(self) -> None:
        """Returns as soon as the client closes; what it sends meanwhile is kept for the next request."""
        while await self._more():
            pass

    def start(self, status: int, headers: Iterable[tuple[str, str]], *, chunked: bool = True) -> None:
        self._chunked = chunked
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", *(f"{k}: {v}" for k, v in headers)]
        if chunked:
            lines.append("Transfer-Encoding: chunked")
        self._writer.write("\r\n".join([*lines, "", ""]).encode())

    def write(self, data: bytes) -> None:
        """One piece of the body: one HTTP chunk, one TCP write."""
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    def end(self) -> None:
        if self._chunked:
            self._writer.write(b"0\r\n\r\n")
        self.ended = True

    def respond(self, status: int, body: object, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Write a whole response: JSON, unless `body` is bytes."""
        kind = "text/html" if isinstance(body, bytes) else "application/json"
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = [("Content-Type", kind), ("Content-Length", str(len(raw))), *headers]
        self.start(status, given, chunked=False)
        self._writer.write(raw)
        self.end()

    async def drip(self, pieces: Iterable[bytes], delay: float) -> None:
        """Writes one piece every `delay` seconds by the clock; whatever is late is written at once."""
        if delay > 0:
            await _Dripper(self.write, pieces, delay).finished()
            return
        rest = iter(pieces)
        while batch := b"".join(islice(rest, BATCH)):
            self.write(batch)
            await self._writer.drain()

    async def flood(self, piece: bytes, times: int) -> None:
        """Writes as fast as the client reads."""
        for _ in range(times):
            self.write(piece)
            await self._writer.drain()

    async def reset(self) -> None:
        """Ends the connection with RST instead of FIN."""
        await self._writer.drain()
        await asyncio.sleep(0.02)  # what was written arrives first
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def _more(self) -> bool:
        try:
            data = await self._reader.read(65536)
        except ConnectionError:
            return False
        self._buffer += data
        return bool(data)

    async def _until(self, mark: bytes) -> bytes | None:
        while mark not in self._buffer:
            if not await self._more():
                return None
        found, _, self._buffer = self._buffer.partition(mark)
        return found

    async def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            if not await self._more():
                raise ConnectionResetError("the client closed within its request")
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        return found

    async def _chunked_body(self) -> bytes:
        body = b""
        while size := int(await self._until(b"\r\n") or b"0", 16):
            body += await self._exactly(size)
            await self._exactly(2)
        await self._until(b"\r\n")
        return body


class _Dripper:
    """Timer callbacks instead of a sleeping task: half the CPU, and the pace does not drift."""

    def __init__(self, write, pieces: Iterable[bytes], delay: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._write = write
        self._pieces = iter(pieces)
        self._delay = delay
        self._due = self._loop.time()
        self._done = self._loop.create_future()
        self._timer = self._loop.call_soon(self._tick)

    async def finished(self) -> None:
        try:
            await self._done
        finally:
            self._timer.cancel()

    def _tick(self) -> None:
        late = 1 + int((self._loop.time() - self._due) / self._delay)
        self._due += late * self._delay
        pieces = list(islice(self._pieces, late))
        if pieces:
            self._write(b"".join(pieces))
        if len(pieces) < late:
            if not self._done.done():
                self._done.set_result(None)
        else:
            self._timer = self._loop.call_at(self._due, self._tick)
