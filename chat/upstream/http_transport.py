"""httpx over aiohttp, whose C parser halves the price of a token, with two of its habits mended.

aiohttp's reader throws away what has arrived once the connection is cut, and what belongs to a closed session
or connection raises a bare RuntimeError.
"""

import ssl
from collections.abc import AsyncIterator
from functools import lru_cache

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

MAX_CONNECTIONS = 2_000  # more than there are live runs
READ_BYTES = 16_384  # bytes at most from one read; one this long leaves more behind it
CONNECT_SECONDS, WRITE_SECONDS = 10.0, 10.0  # seconds; how long a reply may take is the reply's own matter
TIMEOUT = httpx.Timeout(connect=CONNECT_SECONDS, write=WRITE_SECONDS, pool=CONNECT_SECONDS, read=None)
# Compression buffers whole blocks and visibly delays tokens.
HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "chat"}


class Transport(AiohttpTransport):
    """Nothing of the environment, no cookies, no redirects. Its session begins with the first request."""

    def __init__(self) -> None:
        tls = httpx.create_ssl_context(trust_env=False)  # 35 ms, here and not with the first question
        super().__init__(verify=tls, client=lambda: _session(tls))
        self.closed = False

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> httpx.Response:
        """As httpx's client does where nothing is to be merged, followed or remembered, for half its cost."""
        request = httpx.Request(
            "POST",
            _parsed(url),
            headers=HEADERS | {"Content-Type": "application/json"} | headers,
            content=body,
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


class Stream(httpx.AsyncByteStream):
    """The bytes of one answer, all of them, however it ends."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._response.content
        try:
            while chunk := await content.read(READ_BYTES):
                yield chunk
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            # It raises before it hands out what it holds; without its exception it hands it out.
            content.set_exception(None)  # type: ignore[arg-type]
            if rest := content.read_nowait():
                yield rest
            raise httpx.ReadError(type(error).__name__) from error

    async def aclose(self) -> None:
        self._response.close()


@lru_cache(64)
def _parsed(url: str) -> httpx.URL:
    """There is one for each model; parsing takes a third of making a request."""
    return httpx.URL(url)


def _session(tls: ssl.SSLContext) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ssl=tls)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)
