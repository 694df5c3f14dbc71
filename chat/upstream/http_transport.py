"""The connections to the servers of models, and when one has been silent for too long.

httpx over aiohttp, whose C parser halves the processing time per token, with two corrections: aiohttp's
reader discards the bytes received so far when the connection is cut, and a closed session or connection
raises a bare RuntimeError.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

MAX_CONNECTIONS = 2_000  # more than there are live runs
READ_BYTES = 16_384  # maximum of one read; after a read of this size, more bytes are expected to be waiting
WRITE_BYTES = 262_144  # of a request body, written at once
CONNECT_SECONDS, WRITE_SECONDS = 10.0, 10.0  # those for reading are in `Timeouts`
LAST_FRAMES_SECONDS = 5.0  # for the frames after the finish reason: the usage and [DONE]
TIMEOUT = httpx.Timeout(connect=CONNECT_SECONDS, write=WRITE_SECONDS, pool=CONNECT_SECONDS, read=None)
# The errors of a request, whichever of the two libraries raises them. A TimeoutError is an OSError.
CONNECTION_ERRORS = (httpx.HTTPError, aiohttp.ClientError, OSError)
NOT_CONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
# No compression, because it buffers whole blocks and visibly delays tokens.
CLIENT_HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "chat"}


def is_unreachable(error: BaseException) -> bool:
    """Return True if no connection was made. httpx has the same class for one that the server has cut."""
    return isinstance(error.__cause__ or error, NOT_CONNECTED)


class Transport(AiohttpTransport):
    """A transport without proxy settings of the environment, cookies or redirects.

    The aiohttp session is created with the first request.
    """

    def __init__(self) -> None:
        tls = httpx.create_ssl_context(trust_env=False)  # takes 35 ms, so not during the first request
        super().__init__(verify=tls, client=lambda: _session(tls))
        self.closed = False

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> httpx.Response:
        """Send a POST request without cookies, redirects or defaults, at half the cost of AsyncClient."""
        sent = CLIENT_HEADERS | {"Content-Type": "application/json"} | headers
        if len(body) > WRITE_BYTES:
            sent["Content-Length"] = str(len(body))  # instead of chunks
        request = httpx.Request(
            "POST",
            _parsed(url),
            headers=sent,
            content=body if len(body) <= WRITE_BYTES else _pieces(body),
            extensions={"timeout": TIMEOUT.as_dict()},
        )
        return await self.handle_async_request(request)

    async def aclose(self) -> None:
        self.closed = True
        await super().aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await super().handle_async_request(request)
        except RuntimeError as error:
            raise httpx.ConnectError("the client is closed") from error
        response.stream = Stream(response.stream._aiohttp_response)
        return response


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    """Yield a large body in pieces: written as one, it would hold up the event loop."""
    for start in range(0, len(body), WRITE_BYTES):
        yield body[start : start + WRITE_BYTES]


class Stream(httpx.AsyncByteStream):
    """The bytes of one response, including those received before a connection error."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._response.content
        try:
            while chunk := await content.read(READ_BYTES):
                yield chunk
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            # With an exception set, the reader raises instead of returning its buffer.
            content.set_exception(None)  # type: ignore[arg-type]
            if rest := content.read_nowait():
                yield rest
            raise httpx.ReadError(type(error).__name__) from error

    async def aclose(self) -> None:
        self._response.close()


@lru_cache(64)
def _parsed(url: str) -> httpx.URL:
    """Parse a URL once per model, because parsing takes a third of the time of building a request."""
    return httpx.URL(url)


def _session(tls: ssl.SSLContext) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ssl=tls)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds, settings of the site.

    `silence`: without a byte; comments are bytes. `progress`: without a frame that says something: text,
    reasoning, a piece of a tool call. A JSON response comes at once, so only this one applies to it. `total`:
    for the whole reply.
    """

    silence: float = 60.0
    progress: float = 300.0
    total: float = 3_600.0


class Deadline:
    """The deadline of one reply: `async with` raises TimeoutError when the server has missed it.

    `started`: the event loop's time from which it counts, for a retry the time of the first request. Time in
    which nothing is read, because the reader of the reply is slow, does not count but for the whole.

    A timer is not set for each token, which would cost a tenth of what processing it costs. When it fires, it
    looks how far the deadline has moved.
    """

    def __init__(self, timeouts: Timeouts, started: float | None, *, streams: bool) -> None:
        self._silence = timeouts.silence if streams else timeouts.progress
        self._progress = timeouts.progress
        self._loop = asyncio.get_running_loop()
        self._progress_at = self._loop.time() if started is None else started
        self._ends_at = self._progress_at + timeouts.total
        self._read_since: float | None = None  # None while nothing is read
        self._last_frames_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._check()

    async def __aexit__(self, *error: Any) -> None:
        if self._timer:
            self._timer.cancel()
        await self._timeout.__aexit__(*error)

    @property
    def time_left(self) -> float:
        """The seconds that are left for a reply to begin in."""
        if self._timeout.expired():
            return 0.0
        return min(self._progress_at + self._progress, self._ends_at) - self._loop.time()

    def begin_read(self, *, after_progress: bool = False, is_last: bool = False) -> None:
        """Begin to wait for the server.

        `after_progress`: what was read before has said something. `is_last`: after the finish reason, which
        limits the wait for the last frames.
        """
        self._read_since = self._loop.time()
        if after_progress:
            self._progress_at = self._read_since
        if not is_last:
            self._last_frames_at = None
        elif self._last_frames_at is None:
            self._last_frames_at = self._read_since + LAST_FRAMES_SECONDS
            self._check()

    def end_read(self) -> None:
        self._read_since = None

    def _at(self) -> float:
        if self._read_since is None:
            return min(self._loop.time() + min(self._silence, self._progress), self._ends_at)
        at = min(self._read_since + self._silence, self._progress_at + self._progress, self._ends_at)
        return at if self._last_frames_at is None else min(at, self._last_frames_at)

    def _check(self) -> None:
        """Pass the deadline, or set the timer to it."""
        if self._timer:
            self._timer.cancel()
        at = self._at()
        if at > self._loop.time():
            self._timer = self._loop.call_at(at, self._check)
        else:
            self._timeout.reschedule(at)
