"""A deadline for each request to arrive.

Patch: the channel of a connection, a subclass of `twisted.web.http.HTTPChannel`.
Buys: no CPU time, but a guarantee. Stock Twisted and Daphne let a request arrive for ever.
Upstream: not reported.
Can go: when Daphne limits the time in which a request may arrive.
"""

import time
from typing import Any, ClassVar

from twisted.internet.protocol import connectionDone
from twisted.web.http import HTTPChannel

from chatsite.server.early_errors import error_body

TOO_SLOW = error_body("too_slow", 3046, "The request took too long to arrive. Send it again.")


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
        return self.REQUEST_SECONDS + (
            0 if self._has_response else self._arrived_bytes / self.MIN_BYTES_PER_SECOND
        )

    @property
    def _has_response(self) -> bool:
        """True if the request was answered, with a refusal, while it is still arriving."""
        return any(request.startedWriting for request in self.requests)

    def _refuse_slow(self) -> None:
        """Answer 408, unless the request was refused already, and close the connection."""
        if not self._has_response:
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(TOO_SLOW), TOO_SLOW)
            )
            for request in self.requests:
                request.log(408)
        self.timeoutConnection()
