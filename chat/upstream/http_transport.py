"""httpx over aiohttp, whose C parser halves the processing time per token, with two corrections.

aiohttp's reader discards the bytes received so far when the connection is cut, and a closed session or
connection raises a bare RuntimeError.
"""

import ssl
from collections.abc import AsyncIterator
from functools import lru_cache

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

MAX_CONNECTIONS = 2_000  # more than there are live runs
READ_BYTES = 16_384  # maximum of one read; after a read of this size, more bytes are expected to be waiting
WRITE_BYTES = 262_144  # of a request body, written at once
CONNECT_SECONDS, WRITE_SECONDS = 10.0, 10.0  # the timeouts for reading are those of CompletionStream
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
