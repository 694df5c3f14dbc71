"""Requests whose bodies are limited: 1 MiB in memory, or an upload in a file.

Patch: a subclass of `daphne.http_protocol.WebRequest`, which Daphne's connections create for each request.
Buys: memory. Stock Daphne takes in bodies of any size (64 MB for one of 60 MB; here 1 MB).
Upstream: https://github.com/django/daphne/issues/483 and https://github.com/django/daphne/issues/288.
Can go: when Daphne can refuse a body before it has arrived.
"""

import asyncio
import io
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, ClassVar

from daphne.http_protocol import WebRequest
from django.conf import settings
from django.db.utils import Error

from chat.limits import MAX_BODY_BYTES
from chat.telemetry import request_id
from chatsite.server import large_bodies
from chatsite.server.access_log import AccessEntry
from chatsite.server.early_errors import error_body
from chatsite.server.request_span import begin_span

if TYPE_CHECKING:
    from chat.telemetry.tracing.spans import RequestSpan

MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES  # of a refused body, which are still read
DISCARDED_FACTOR = 3  # of a refused upload: this many times what is allowed
logger = logging.getLogger(__name__)
TOO_LONG = error_body("too_long", 3006, "The request is larger than 1 MiB. Send less.")


class LimitedRequest(WebRequest):
    """A request that is refused as soon as its body exceeds the limit, before the body is stored anywhere."""

    upload: IO[bytes] | None = None  # the whole body, in a file without a name
    request_id = ""  # chosen when the headers are complete; before that, nothing is logged
    span: "RequestSpan | None" = None  # if traces are on
    request_line = b"", b""  # method and target, which Twisted sets only after the whole request
    _refused = False
    _logged = False
    _received = 0
    _limit = MAX_BODY_BYTES
    _checking: asyncio.Task[None] | None = None  # referred to, so that it is not collected before its end
    _upload_kind: large_bodies.LargeBody | None = None  # while an upload arrives
    _arriving: ClassVar[Counter[Hashable]] = Counter()  # uploads by sender, of all requests of this process

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parsePOSTFormSubmission = False  # Django parses forms; Twisted would parse them as well
        self.began_at = time.monotonic()

    def gotLength(self, length: int | None) -> None:
        """Decide on the body. Twisted calls this when the headers of the request are complete."""
        sent = self.requestHeaders.getRawHeaders(request_id.HEADER.encode(), [b""])[0].decode("latin-1")
        self.request_line = self.channel._command, self.channel._path
        self.request_id = request_id.choose(sent, trusted=settings.TRUSTED_PROXY > 0)
        self.span = begin_span(self)
        upload = large_bodies.allowed(
            self.channel._command, self.channel._path, self.requestHeaders, length or 0
        )
        self._limit = upload.limit if upload else MAX_BODY_BYTES
        too_long = length is not None and length > self._limit
        super().gotLength(0 if too_long or upload else length)
        if upload:
            self._begin_upload(upload, too_long=too_long)
        elif too_long:
            self._refuse()

    def _begin_upload(self, upload: large_bodies.LargeBody, *, too_long: bool) -> None:
        if too_long:
            self._refuse_upload(upload.too_large)
        elif self._arriving[upload.sender] >= upload.at_once:
            self._refuse_upload(upload.busy)
        else:
            self._upload_kind = upload
            self._arriving[upload.sender] += 1
            try:
                self.content: IO[bytes] = tempfile.TemporaryFile(dir=upload.folder())  # noqa: SIM115 - closed by Twisted
            except OSError as error:
                self._refuse_unwritable(upload, error)
                return
            if upload.check:
                self._checking = asyncio.ensure_future(self._refuse_unless(upload, upload.check))

    async def _refuse_unless(
        self, upload: large_bodies.LargeBody, check: Callable[[], Awaitable[large_bodies.Refusal | None]]
    ) -> None:
        """Refuse the upload while it arrives, if `check` says so. A whole request is left to its view."""
        with suppress(Error):  # the view will meet it, too
            refusal = await check()
            if refusal and self._upload_kind is upload and self.upload is None and not self._refused:
                self._refuse_upload(refusal)

    def _end_upload(self) -> None:
        if upload := self._upload_kind:
            self._arriving[upload.sender] -= 1
            if not self._arriving[upload.sender]:
                del self._arriving[upload.sender]
            self._upload_kind = None

    def handleContentChunk(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > max(MAX_DISCARDED_BYTES, DISCARDED_FACTOR * self._limit):
            self.channel.loseConnection()
        elif not self._refused and self._received > self._limit:
            if self._upload_kind is None:
                self._refuse()
            else:
                self._refuse_upload(self._upload_kind.too_large)
        if not self._refused:
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        try:
            super().handleContentChunk(data)
            self.content.flush()  # a full disk is noticed now, and not when the request is complete
        except OSError as error:
            if self._upload_kind is None:
                raise
            self._refuse_unwritable(self._upload_kind, error)

    def _refuse_unwritable(self, upload: large_bodies.LargeBody, error: OSError) -> None:
        logger.error("an upload could not be written: %s", error)
        self._refuse_upload(upload.unwritable)

    def process(self) -> Any:
        if not self._refused:
            if self._upload_kind is not None:
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
        self.log(self.code if self.startedWriting else None)
        super().connectionLost(reason)

    def log(self, status: int | None) -> None:
        """Write the entry of the access log, once; `status` is None if no response was begun."""
        if self.request_id and not self._logged:
            self._logged = True
            if entry := AccessEntry.of(self):
                entry.log(status, self.sentLength, time.monotonic() - self.began_at)
            if self.span:
                self.span.end(status)

    def _refuse(self) -> None:
        self._respond_early(413, TOO_LONG, {b"Content-Type": b"application/json"})

    def _refuse_upload(self, response: large_bodies.Refusal) -> None:
        if self._upload_kind is not None:
            with suppress(OSError):  # of a full disk
                self.content.close()
            self.content = io.BytesIO()
            self._end_upload()
        self._respond_early(*response)

    def _respond_early(self, status: int, body: bytes, headers: dict[bytes, bytes]) -> None:
        """Answer at once, and let the client finish: one that is cut off does not read the response."""
        self._refused = True
        self.clientproto = self.channel._version  # Twisted sets it only after the whole request
        self.setResponseCode(status)
        for name, value in headers.items():
            self.setHeader(name, value)
        self.setHeader(b"Content-Length", str(len(body)).encode())
        self.setHeader(request_id.HEADER.encode(), self.request_id.encode())
        self.setHeader(b"Connection", b"close")
        self.write(body)
