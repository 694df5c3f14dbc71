"""One web page, fetched: within a time and a size, from public addresses, without anything about the person.

No cookies, no referrer, no proxy, no passwords of this machine. Each redirect is checked like the first
address. What is allowed by READ_PAGE_ALLOWED_HOSTS is not reached by way of a page that is not.

With READ_PAGE_RENDERING, a page that needs scripts is opened in a browser of Cloudflare's, whose HTML is read
like any other. The browser gets the address alone, and its own network decides what that can reach.
https://developers.cloudflare.com/browser-run/quick-actions/content-endpoint/
"""

import asyncio
import tempfile
import zlib
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Any

import aiohttp
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext as _
from yarl import URL

from chat.catalog import config
from chat.upstream.errors import ErrorKind, UpstreamError

from . import addresses, service
from .destinations import Forbidden, Guard
from .tool import ToolFailed

MAX_BYTES = 3_000_000  # of the page, and of what is sent for it
SECONDS = 10.0
MAX_REDIRECTS = 3
PIECE_BYTES = 65_536
REDIRECTS = {301, 302, 303, 307, 308}
HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; Chat/0.1; reads a page when a person asks)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
UNREAD = ("image/", "audio/", "video/", "font/")
# Of a browser: it stops loading before SECONDS, and goes on with what is there by then.
LOAD_MILLISECONDS = 8_000
LOADING = {
    "gotoOptions": {"waitUntil": "networkidle2", "timeout": LOAD_MILLISECONDS},
    "bestAttempt": True,
    "rejectResourceTypes": ["image", "media", "font"],
}
BROWSER_DOLLARS_PER_MILLISECOND = 0.09 / 3_600_000
MAX_MILLISECONDS = 600_000  # that a response can say to have used
# By status, because the codes of this service have other meanings than those of Workers AI.
NOT_PERMITTED = gettext_noop(
    "This page needs scripts, and this site’s account may not run them. Tell your administrator."
)
BROWSERS_BUSY = gettext_noop(
    "This page needs scripts, and the service that runs them is busy. Try again in a moment."
)
BROWSER_REFUSALS: dict[int | None, str] = {401: NOT_PERMITTED, 403: NOT_PERMITTED, 429: BROWSERS_BUSY}
BROWSER_FAILED = gettext_noop("This page needs scripts, and couldn’t be opened with them.")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page. `url` is where the redirects have led; `modified` is the header's text."""

    url: URL
    file: IO[bytes]
    media_type: str
    charset: str
    modified: str


@asynccontextmanager
async def fetched(address: URL, person: Hashable) -> AsyncIterator[Fetched]:
    """Fetch a page into a file that is deleted afterwards. Raises ToolFailed."""
    with tempfile.TemporaryFile() as file:
        try:
            async with asyncio.timeout(SECONDS):
                page = await _fetch(address, file, person)
        except TimeoutError:
            raise ToolFailed(_("The page took longer than %(n)s seconds.") % {"n": int(SECONDS)}) from None
        except aiohttp.ClientConnectorCertificateError:
            raise ToolFailed(_("The page’s certificate isn’t valid.")) from None
        except aiohttp.ClientConnectorDNSError:
            raise ToolFailed(_("There is no site with this name.")) from None
        except (aiohttp.ClientError, OSError, ValueError, zlib.error):
            raise ToolFailed(_("The page couldn’t be fetched.")) from None
        yield page


async def _fetch(address: URL, file: IO[bytes], person: Hashable) -> Fetched:
    guard = Guard(person)
    guard.is_allowed = addresses.is_allowed(address)
    tls = await asyncio.to_thread(service.tls)
    connector = aiohttp.TCPConnector(
        resolver=guard, use_dns_cache=False, socket_factory=guard.socket, force_close=True, ssl=tls
    )
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=HEADERS,
        trust_env=False,
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=None),
    ) as session:
        for _hop in range(1 + MAX_REDIRECTS):
            if not guard.is_allowed and addresses.is_own(address):
                raise Forbidden
            # An IP address in place of a name is not looked up, so its socket is what is checked.
            async with session.get(address, allow_redirects=False) as response:
                if response.status not in REDIRECTS or "Location" not in response.headers:
                    await _save(response, file)
                    return _described(address, file, response)
                address = _next(address, response.headers["Location"])
                guard.is_allowed = guard.is_allowed and addresses.is_allowed(address)
    raise ToolFailed(_("The address leads to too many others."))


def _next(address: URL, location: str) -> URL:
    try:
        return addresses.parsed(str(address.join(URL(location))))
    except ValueError:
        raise ToolFailed(_("The address leads to one that can’t be read.")) from None


async def _save(response: aiohttp.ClientResponse, file: IO[bytes]) -> None:
    """Write the unpacked body into the file."""
    if not 200 <= response.status < 300:
        raise ToolFailed(_("The site answered with the error %(code)s.") % {"code": response.status})
    if response.content_type.startswith(UNREAD):
        raise ToolFailed(_("This kind of page can’t be read."))
    too_large = ToolFailed(_("The page is larger than %(n)s MB.") % {"n": MAX_BYTES // 1_000_000})
    if (response.content_length or 0) > MAX_BYTES:
        raise too_large
    unpacked = _unpacker(response.headers.get("Content-Encoding", "").strip().lower())
    sent = size = 0
    while piece := await response.content.read(PIECE_BYTES):
        sent += len(piece)
        for part in unpacked.parts(piece):
            size += len(part)
            if max(size, sent) > MAX_BYTES:
                raise too_large
            file.write(part)


class _Plain:
    def parts(self, piece: bytes) -> Iterator[bytes]:
        yield piece


class _Packed:
    """Unpacks gzip and deflate in small parts, so that a bomb is noticed before it is in memory."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either head

    def parts(self, piece: bytes) -> Iterator[bytes]:
        while True:
            part = self._zlib.decompress(piece, PIECE_BYTES)
            yield part
            piece = self._zlib.unconsumed_tail
            if not piece and len(part) < PIECE_BYTES:
                return


def _unpacker(encoding: str) -> _Plain | _Packed:
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Packed()
    raise ToolFailed(_("This kind of page can’t be read."))


def _described(address: URL, file: IO[bytes], response: aiohttp.ClientResponse) -> Fetched:
    has_type = "Content-Type" in response.headers
    return Fetched(
        address,
        file,
        response.content_type.lower() if has_type else "",
        (response.charset or "")[:30] if has_type else "",
        response.headers.get("Last-Modified", ""),
    )


@asynccontextmanager
async def rendered(page: Fetched) -> AsyncIterator[tuple[Fetched, float]]:
    """Open a page in a browser. Return its HTML as a file, and the cost in dollars. Raises ToolFailed."""
    try:
        async with asyncio.timeout(SECONDS):
            html, cost = await browsed({"url": str(page.url), **LOADING})
    except TimeoutError:
        raise ToolFailed(_("The page took longer than %(n)s seconds.") % {"n": int(SECONDS)}) from None
    except UpstreamError as error:
        raise ToolFailed(gettext(BROWSER_REFUSALS.get(error.status, BROWSER_FAILED))) from None
    with tempfile.TemporaryFile() as file:
        file.write(html.encode("utf-8", "replace"))
        yield Fetched(page.url, file, "text/html", "utf-8", page.modified), cost


async def browsed(body: Mapping[str, Any]) -> tuple[str, float]:
    """Return the HTML of a page after its scripts have run, and the cost. Raises UpstreamError."""
    account = config.account()
    if account is None:  # disconnected since the run has begun
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail="no account is connected")
    url = f"{account.base_url}/accounts/{account.account_id}/browser-rendering/content"
    told, headers = await service.fetch(
        "POST",
        url,
        {"Authorization": f"Bearer {account.token}"},
        from_cloudflare=True,
        body=body,
        max_bytes=MAX_BYTES,
    )
    html = told.get("result") if isinstance(told, dict) else None
    if not isinstance(html, str):
        raise UpstreamError(ErrorKind.UNAVAILABLE, detail="The response has no HTML.")
    used = headers.get("X-Browser-Ms-Used", "")
    milliseconds = min(int(used), MAX_MILLISECONDS) if used.isdecimal() and len(used) < 10 else 0
    return html, milliseconds * BROWSER_DOLLARS_PER_MILLISECOND
