"""Connections and requests with limits: for the time in which a request arrives, and for its body.

Patch: the channel of a connection, a subclass of `twisted.web.http.HTTPChannel`, and a subclass of
`daphne.http_protocol.WebRequest`, which Daphne's connections create for each request.
Buys: no CPU time, but guarantees. Stock Twisted and Daphne let a request arrive for ever, and take in bodies
of any size (64 MB of memory for one of 60 MB; here 1 MB, or an upload in a file).
Upstream: https://github.com/django/daphne/issues/483 and https://github.com/django/daphne/issues/288 for
bodies; the deadline is not reported.
Can go: when Daphne limits the time in which a request may arrive, and can refuse a body before that.
"""

import asyncio
import io
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import IO, Any, ClassVar

from daphne.http_protocol import WebRequest
from django.db.utils import Error
from twisted.internet.protocol import connectionDone
from twisted.web.http import HTTPChannel

from chat.limits import MAX_BODY_BYTES
from chat.telemetry.request_id import HEADER
from chatsite.server import large_bodies
from chatsite.server.early_errors import TOO_LONG, TOO_SLOW, Refusal
from chatsite.server.request_record import RequestRecord

MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES  # of a refused body, which are still read
DISCARDED_FACTOR = 3  # of a refused upload: this many times what is allowed
logger = logging.getLogger(__name__)


class DeadlineChannel(HTTPChannel):
    """A connection that is closed if a request does not arrive in time.

    Twisted's own timeout restarts with each byte, so a byte every ten seconds keeps a connection for ever.
    This one gives a request, from its first byte to its last, `REQUEST_SECONDS`, and more only in proportion
    to what has arrived: a mebibyte at `MIN_BYTES_PER_SECOND` may take five minutes. Idle connections and
    responses are not limited.
    """

    REQUEST_SECONDS = 60.0
    MIN_BYTES_PER_SECOND = 4_096  # about what a poor phone line sends

    retiring: ClassVar[bool] = False  # True: each connection ends with its next response

    _deadline: Any = None  # the scheduled call of `_check_deadline`
    _began_at = 0.0
    _arrived_bytes = 0  # bytes of this request so far

    def checkPersistence(self, request: Any, version: bytes) -> bool:
        """Return whether the connection stays open after this request, and tell the client if it does not."""
        persistent: bool = super().checkPersistence(request, version)
        if self.retiring:
            request.responseHeaders.setRawHeaders(b"Connection", [b"close"])
        return persistent and not self.retiring

    def dataReceived(self, data: bytes) -> None:
        if not self._handlingRequest:
            self._start_deadline()
            self._arrived_bytes += len(data)
        super().dataReceived(data)

    def allContentReceived(self) -> None:
        self._cancel_deadline()
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        """Start the next deadline if bytes after this request are the beginning of the next one."""
        super().requestDone(request)
        if not self._handlingRequest and (self.requests or self._buffer):
            self._start_deadline()

    def connectionLost(self, reason: Any = connectionDone) -> None:
        self._cancel_deadline()
        super().connectionLost(reason)

    def release(self, request: Any) -> None:
        """Give the transport up, and part from the request: their cycle would wait for the collector."""
        self.setTimeout(None)
        self._cancel_deadline()
        self.requests.clear()
        request.content.close()
        request.channel = request.transport = request.producer = None

    def _start_deadline(self) -> None:
        """Start the deadline of a request, unless it has begun already."""
        if self._deadline is None:
            self._began_at, self._arrived_bytes = time.monotonic(), 0
            self._deadline = self.callLater(self.REQUEST_SECONDS, self._check_deadline)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None and self._deadline.active():
            self._deadline.cancel()
        self._deadline = None

    def _check_deadline(self) -> None:
        self._deadline = None
        left = self._allowed() - (time.monotonic() - self._began_at)
        if left > 0:
            self._deadline = self.callLater(left, self._check_deadline)
        else:
            self._refuse_slow()

    def _allowed(self) -> float:
        """Return the seconds that the request may take from its first byte to its last."""
        more = 0 if self._has_response else self._arrived_bytes / self.MIN_BYTES_PER_SECOND
        return self.REQUEST_SECONDS + more

    @property
    def _has_response(self) -> bool:
        """True if the request was answered, with a refusal, while it is still arriving."""
        return any(request.startedWriting for request in self.requests)

    def _refuse_slow(self) -> None:
        """Answer 408, unless the request was refused already, and close the connection."""
        if not self._has_response:
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(TOO_SLOW.body), TOO_SLOW.body)
            )
            for request in self.requests:
                request.end_record(408)
        self.timeoutConnection()


class LimitedRequest(WebRequest):
    """A request that is refused as soon as its body exceeds the limit: by its length, where that is named."""

    upload: IO[bytes] | None = None  # the whole body, in a file without a name
    record: RequestRecord | None = None  # begun when the headers are complete; None again when it has ended
    flow: Any = None  # of `daphne_server`, once the response has begun
    _refused = False
    _received = 0
    _limit = MAX_BODY_BYTES
    _checking: asyncio.Task[None] | None = None  # referred to, so that it is not collected before its end
    _large: large_bodies.LargeBody | None = None  # while an upload arrives
    _arriving: ClassVar[Counter[Hashable]] = Counter()  # uploads by sender, of all requests of this process

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parsePOSTFormSubmission = False  # Django parses forms; Twisted would parse them as well
        self._began_at = time.monotonic()

    def gotLength(self, length: int | None) -> None:
        """Decide on the body. Twisted calls this when the headers of the request are complete."""
        method, target = self.channel._command, self.channel._path
        self.record = RequestRecord(self, method, target, self._began_at)
        large = None
        if method == b"POST":
            large = large_bodies.allowed(target, self.requestHeaders, length or 0)
        self._limit = large.limit if large else MAX_BODY_BYTES
        too_long = length is not None and length > self._limit
        super().gotLength(0 if too_long or large else length)  # 0: Twisted makes no file
        if too_long:
            self._refuse(large.too_large if large else TOO_LONG)
        elif large:
            self._begin_upload(large)

    def _begin_upload(self, large: large_bodies.LargeBody) -> None:
        if self._arriving[large.sender] >= large.at_once:
            self._refuse(large.busy)
            return
        self._large = large
        self._arriving[large.sender] += 1
        try:
            self.content: IO[bytes] = tempfile.TemporaryFile(dir=large.folder())  # noqa: SIM115 - closed by Twisted
        except OSError as error:
            self._refuse_unwritable(large, error)
            return
        if large.check:
            self._checking = asyncio.ensure_future(self._refuse_nobody(large.check))

    async def _refuse_nobody(self, check: Callable[[], Awaitable[Refusal | None]]) -> None:
        """Refuse the upload while it arrives, if `check` says so. A whole request is left to its view."""
        with suppress(Error):  # the view will meet it, too
            refusal = await check()
            if refusal and self._large and self.upload is None and not self._refused:
                self._refuse(refusal)

    def _end_upload(self) -> None:
        if large := self._large:
            self._arriving[large.sender] -= 1
            if not self._arriving[large.sender]:
                del self._arriving[large.sender]
            self._large = None

    def handleContentChunk(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > max(MAX_DISCARDED_BYTES, DISCARDED_FACTOR * self._limit):
            self.channel.loseConnection()
        elif not self._refused and self._received > self._limit:
            self._refuse(self._large.too_large if self._large else TOO_LONG)
        if not self._refused:
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        try:
            super().handleContentChunk(data)
            self.content.flush()  # a full disk is noticed now, and not when the request is complete
        except OSError as error:
            if self._large is None:
                raise
            self._refuse_unwritable(self._large, error)

    def process(self) -> Any:
        if not self._refused:
            if self._large is not None:
                self.upload, self.content = self.content, io.BytesIO()
            self.requestHeaders.removeHeader(b"upgrade")  # no WebSockets: see unused_modules.py
            return super().process()
        channel = self.channel  # `finish` forgets it
        self.finish()
        channel.loseConnection()
        return None

    def finish(self) -> None:
        self._end_upload()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        self._end_upload()
        self.end_record(self.code if self.startedWriting else None)
        super().connectionLost(reason)

    def take_record(self) -> RequestRecord | None:
        """Return the record, which the caller ends."""
        record, self.record = self.record, None
        if record:
            header = self.responseHeaders.getRawHeaders(HEADER.encode(), [b""])[0].decode("latin-1")
            record.call_id = header if header != record.id else ""
        return record

    def end_record(self, status: int | None) -> None:
        """End the record, once; `status` is None if no response was begun."""
        if record := self.take_record():
            record.end(status, self.sentLength)

    def _refuse_unwritable(self, large: large_bodies.LargeBody, error: OSError) -> None:
        logger.error("an upload could not be written: %s", error)
        self._refuse(large.unwritable)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer at once, and let the client finish: one that is cut off does not read the response."""
        if self._large is not None:
            with suppress(OSError):  # of a full disk
                self.content.close()
            self.content = io.BytesIO()
            self._end_upload()
        self._refused = True
        self.clientproto = self.channel._version  # Twisted sets it only after the whole request
        self.setResponseCode(refusal.status)
        for name, value in refusal.headers.items():
            self.setHeader(name, value)
        self.setHeader(b"Content-Length", str(len(refusal.body)).encode())
        if self.record:
            self.setHeader(HEADER.encode(), self.record.id.encode())
        self.setHeader(b"Connection", b"close")
        self.write(refusal.body)
