"""Daphne with flow control, a limit of request bodies, a deadline for requests, and a graceful shutdown.

Patch: `daphne.server.HTTPFactory`, for requests and channels of our own, and a subclass of
`daphne.server.Server`.
Buys: no CPU time, but memory and guarantees. Stock Daphne buffers all that a slow client does not read (60 MB
of a stream of 60 MB; here nothing) and bodies of any size (64 MB for one of 60 MB; here 1 MB), lets a request
arrive for ever, and on SIGTERM cuts streams off without an end.
Upstream: https://github.com/django/daphne/issues/483 and https://github.com/django/daphne/issues/288 for
bodies; https://github.com/django/daphne/issues/170 for slow readers, of WebSockets. The rest is not
reported.
Can go: each part when Daphne has it; the server that Django's documentation names has to give these
guarantees.
"""

import asyncio
import logging
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any

import daphne.http_protocol
import daphne.server
from daphne.http_protocol import WebRequest
from twisted.internet import defer, reactor
from twisted.internet.interfaces import IPushProducer
from twisted.internet.protocol import connectionDone
from twisted.web.http import HTTPChannel, _GenericHTTPChannelProtocol
from zope.interface import implementer

import chatsite.server.eager_transport  # noqa: F401

MAX_BODY_BYTES = 1_048_576  # bytes
DISCARDED = 8 * MAX_BODY_BYTES  # bytes of a refused body that are still read, and discarded
BACKLOG = 2_048  # connections that may wait to be accepted: after a restart all clients reconnect at once
LEFTOVER_SECONDS = 2.0  # seconds for the last tasks to end, in each of three rounds

logger = logging.getLogger(__name__)


@implementer(IPushProducer)
class FlowControl:
    """The producer of a response. Twisted pauses it while the client reads too slowly, clearing `open`."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()

    def pauseProducing(self) -> None:
        self.open.clear()

    def resumeProducing(self) -> None:
        self.open.set()

    def stopProducing(self) -> None:
        self.open.set()


def _refusal(code: str, number: int, sentence: str) -> bytes:
    """Return a JSON error that pages, OpenAI clients and Workers AI clients all understand.

    The request is refused before its URL is looked at, so the format that its client expects is unknown.
    """
    message = f'"message": "{sentence}"'
    return (
        f'{{"error": {{"code": "{code}", {message}, "type": "invalid_request_error", "param": null}}, '
        f'"result": null, "success": false, "errors": [{{"code": {number}, {message}}}], "messages": []}}'
    ).encode()


TOO_LONG = _refusal("too_long", 3006, "This is longer than 1 MiB. Send less.")
TOO_SLOW = _refusal("too_slow", 3046, "The request took too long to arrive. Send it again.")


class LimitedRequest(WebRequest):
    """A request that is refused as soon as its body exceeds the limit, before the body is stored anywhere."""

    flow: FlowControl | None = None
    _refused = False
    _received = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parsePOSTFormSubmission = False  # Django parses forms; Twisted would parse them as well

    def gotLength(self, length: int | None) -> None:
        too_long = length is not None and length > MAX_BODY_BYTES
        super().gotLength(0 if too_long else length)
        if too_long:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > DISCARDED:
            self.channel.loseConnection()
        elif not self._refused and self._received > MAX_BODY_BYTES:
            self._refuse()
        if not self._refused:
            super().handleContentChunk(data)

    def process(self) -> Any:
        if not self._refused:
            self.requestHeaders.removeHeader(b"upgrade")  # no WebSockets: see unused_modules.py
            return super().process()
        self.finish()
        self.channel.loseConnection()
        return None

    def _refuse(self) -> None:
        """Answer at once, and let the client finish: one that is cut off does not read the response."""
        self._refused = True
        body = TOO_LONG
        self.clientproto = self.channel._version  # Twisted sets it only after the whole request
        self.setResponseCode(413)
        self.setHeader(b"Content-Type", b"application/json")
        self.setHeader(b"Content-Length", str(len(body)).encode())
        self.setHeader(b"Connection", b"close")
        self.write(body)


class DeadlineChannel(HTTPChannel):
    """A connection that is closed if a request does not arrive in time.

    Twisted's own timeout restarts with each byte, so a byte every ten seconds keeps a connection for ever.
    This one gives a request, from its first byte to its last, `REQUEST_SECONDS`, and more only in proportion
    to what has arrived: a mebibyte at `LEAST_RATE` may take five minutes. Idle connections and responses are
    not limited.
    """

    REQUEST_SECONDS = 60.0
    LEAST_RATE = 4_096  # bytes a second, about what a poor phone line sends

    _deadline: Any = None  # the scheduled call of `_look`
    _began = 0.0
    _arrived = 0  # bytes of this request so far

    def dataReceived(self, data: bytes) -> None:
        if not self._handlingRequest:
            self._expect()
            self._arrived += len(data)
        super().dataReceived(data)

    def allContentReceived(self) -> None:
        self._arrived_in_time()
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        """Start the next deadline if bytes after this request are the beginning of the next one."""
        super().requestDone(request)
        if not self._handlingRequest and (self.requests or self._buffer):
            self._expect()

    def connectionLost(self, reason: Any = connectionDone) -> None:
        self._arrived_in_time()
        super().connectionLost(reason)

    def _expect(self) -> None:
        """Start the deadline of a request, unless it has begun already."""
        if self._deadline is None:
            self._began, self._arrived = time.monotonic(), 0
            self._deadline = self.callLater(self.REQUEST_SECONDS, self._look)

    def _arrived_in_time(self) -> None:
        if self._deadline is not None and self._deadline.active():
            self._deadline.cancel()
        self._deadline = None

    def _look(self) -> None:
        self._deadline = None
        left = self._allowed() - (time.monotonic() - self._began)
        if left > 0:
            self._deadline = self.callLater(left, self._look)
        else:
            self._refuse_slow()

    def _allowed(self) -> float:
        """Return the seconds that the request may take from its first byte to its last."""
        return self.REQUEST_SECONDS + (0 if self._is_answered else self._arrived / self.LEAST_RATE)

    @property
    def _is_answered(self) -> bool:
        """True if the request was answered, with a refusal, while it is still arriving."""
        return any(request.startedWriting for request in self.requests)

    def _refuse_slow(self) -> None:
        """Answer 408, unless the request was refused already, and close the connection."""
        if not self._is_answered:
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(TOO_SLOW), TOO_SLOW)
            )
        self.timeoutConnection()


class LimitedFactory(daphne.http_protocol.HTTPFactory):
    @staticmethod
    def protocol() -> Any:
        """Return Twisted's own protocol around a `DeadlineChannel`."""
        return _GenericHTTPChannelProtocol(DeadlineChannel())

    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = LimitedRequest
        return protocol

    def log(self, request: Any) -> None:
        """Do nothing: Twisted's own method formats a line for each request, only to discard it."""


# Daphne's server looks its factory up by this name, and has no other hook for it.
daphne.server.HTTPFactory = LimitedFactory


class ChatServer(daphne.server.Server):
    """Daphne's server with flow control and a graceful shutdown.

    The first SIGTERM or SIGINT awaits `on_stop()`, a further one calls `on_force()`. `on_listen()` is called
    for each port that is listened on.
    """

    def __init__(
        self,
        *args: Any,
        on_stop: Callable[[], Awaitable[None]],
        on_force: Callable[[], None],
        on_listen: Callable[[], object],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, signal_handlers=False, server_name="", **kwargs)
        self.ports: list[Any] = []
        self.failed = False
        self._on_stop, self._on_force, self._on_listen = on_stop, on_force, on_listen
        self._stopping: asyncio.Task[None] | None = None

    def run(self) -> None:
        reactor.callWhenRunning(self._prepare)
        super().run()

    def _prepare(self) -> None:
        loop = asyncio.get_event_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.start_shutdown)

    def listen_success(self, port: Any) -> None:
        self.ports.append(port)
        super().listen_success(port)
        reactor.callWhenRunning(self._on_listen)

    def listen_error(self, failure: Any) -> None:
        self.failed = True
        super().listen_error(failure)

    async def handle_reply(self, protocol: LimitedRequest, message: dict[str, Any]) -> None:
        """Write one ASGI message, and wait while the client reads too slowly."""
        starts = message["type"] == "http.response.start"
        if starts and protocol.flow is None and not protocol.finished and protocol.channel is not None:
            protocol.flow = FlowControl()
            protocol.registerProducer(protocol.flow, True)
        goes_on = message.get("more_body", False)
        ends = message["type"] == "http.response.body" and not goes_on
        if protocol.flow and protocol.channel is not None and not protocol.finished:
            if ends:
                protocol.unregisterProducer()
            # The head is sent together with the first part of the body, the end together with the last part.
            protocol.channel.transport.eager = goes_on and protocol.startedWriting
        await super().handle_reply(protocol, message)
        if protocol.flow and not ends and not protocol.flow.open.is_set():
            await protocol.flow.open.wait()

    def protocol_disconnected(self, protocol: LimitedRequest) -> None:
        if flow := getattr(protocol, "flow", None):
            flow.open.set()
        super().protocol_disconnected(protocol)

    def start_shutdown(self) -> None:
        if self._stopping is None:
            self._stopping = asyncio.get_event_loop().create_task(self._stop())
        else:
            self._on_force()

    async def _stop(self) -> None:
        """Keep serving while the application drains: new requests are refused with a reason, streams end."""
        try:
            await self._on_stop()
        finally:
            for port in self.ports:
                port.stopListening()
            await self._end_tasks()
            reactor.stop()

    async def _end_tasks(self) -> None:
        """Cancel all tasks and let every `finally` run: Daphne cancels requests, not the tasks they await."""
        me = asyncio.current_task()
        for _ in range(3):
            tasks = [task for task in asyncio.all_tasks() if task is not me]
            if not tasks:
                return
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=LEFTOVER_SECONDS)

    def kill_all_applications(self) -> defer.Deferred[None]:
        """Do nothing: when Twisted's shutdown calls this, `_end_tasks` has ended all applications."""
        return defer.succeed(None)
