"""Daphne with what a chat needs of a server: flow control, a limit for bodies, and an end in good order.

Patch: `daphne.server.HTTPFactory`, for requests and channels of our own, and a subclass of
`daphne.server.Server`.
Buys: no CPU time, but memory and promises. Stock Daphne keeps all that a slow reader does not take (60 MB
of a stream of 60 MB; here nothing) and bodies of any size (64 MB for one of 60 MB; here 1 MB), lets a request
arrive for ever, and on SIGTERM ends streams without a word.
Upstream: https://github.com/django/daphne/issues/483 and https://github.com/django/daphne/issues/288 for
bodies; https://github.com/django/daphne/issues/170 for slow readers, of WebSockets. The rest is not
reported.
Can go: each part when Daphne has it; the server that Django's documentation names has to keep these
promises.
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
DISCARDED = 8 * MAX_BODY_BYTES  # bytes of a refused body that are still read, and thrown away
BACKLOG = 2_048  # connections that wait to be accepted: after a restart everybody comes back at once
LEFTOVER_SECONDS = 2.0  # seconds for the last tasks to end

logger = logging.getLogger(__name__)


@implementer(IPushProducer)
class FlowControl:
    """The producer that Twisted pauses while the reader of a response is behind."""

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
    """In the words of the page and of OpenAI, and in Workers AI's: whose address it is nobody has looked at
    yet."""
    message = f'"message": "{sentence}"'
    return (
        f'{{"error": {{"code": "{code}", {message}, "type": "invalid_request_error", "param": null}}, '
        f'"result": null, "success": false, "errors": [{{"code": {number}, {message}}}], "messages": []}}'
    ).encode()


TOO_LONG = _refusal("too_long", 3006, "This is longer than 1 MiB. Send less.")
TOO_SLOW = _refusal("too_slow", 3046, "The request took too long to arrive. Send it again.")


class LimitedRequest(WebRequest):
    """Refuses a body over the limit while it comes in, before it is kept anywhere."""

    flow: FlowControl | None = None
    _refused = False
    _received = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parsePOSTFormSubmission = False  # Django reads forms; Twisted would read them a first time

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
            self.requestHeaders.removeHeader(b"upgrade")  # there are no WebSockets: see unused_modules.py
            return super().process()
        self.finish()
        self.channel.loseConnection()
        return None

    def _refuse(self) -> None:
        """Answer at once, and let the client finish: one that is cut off does not read the answer."""
        self._refused = True
        body = TOO_LONG
        self.clientproto = self.channel._version  # else set only when the whole request is here
        self.setResponseCode(413)
        self.setHeader(b"Content-Type", b"application/json")
        self.setHeader(b"Content-Length", str(len(body)).encode())
        self.setHeader(b"Connection", b"close")
        self.write(body)


class DeadlineChannel(HTTPChannel):
    """Ends a connection whose request does not arrive in time.

    Twisted's own timeout begins anew with each byte, so a byte every ten seconds keeps a connection for ever.
    Here a request, from its first byte to its last, has `REQUEST_SECONDS`, and more only for what has
    arrived: a mebibyte at the least rate may take five minutes. Idle connections and responses go on.
    """

    REQUEST_SECONDS = 60.0
    LEAST_RATE = 4_096  # bytes a second, about what a poor phone line sends

    _deadline: Any = None  # the call that looks whether it is over
    _began = 0.0
    _arrived = 0  # bytes of this request

    def dataReceived(self, data: bytes) -> None:
        if not self._handlingRequest:
            self._expect()
            self._arrived += len(data)
        super().dataReceived(data)

    def allContentReceived(self) -> None:
        self._arrived_in_time()
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        """What was sent behind the request may be the beginning of the next one."""
        super().requestDone(request)
        if not self._handlingRequest and (self.requests or self._buffer):
            self._expect()

    def connectionLost(self, reason: Any = connectionDone) -> None:
        self._arrived_in_time()
        super().connectionLost(reason)

    def _expect(self) -> None:
        """A request begins to arrive, if it has not."""
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
        """Seconds from the first byte of the request to its last."""
        return self.REQUEST_SECONDS + (0 if self._is_answered else self._arrived / self.LEAST_RATE)

    @property
    def _is_answered(self) -> bool:
        """Whether a request that is still arriving was refused already."""
        return any(request.startedWriting for request in self.requests)

    def _refuse_slow(self) -> None:
        """Say so, unless the request was refused already, and end the connection."""
        if not self._is_answered:
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(TOO_SLOW), TOO_SLOW)
            )
        self.timeoutConnection()


class LimitedFactory(daphne.http_protocol.HTTPFactory):
    @staticmethod
    def protocol() -> Any:
        """As Twisted's own, around our channel."""
        return _GenericHTTPChannelProtocol(DeadlineChannel())

    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = LimitedRequest
        return protocol

    def log(self, request: Any) -> None:
        """Nothing: Twisted would make a line of its own for each request, and throw it away."""


# The server makes its factory by this name and offers no other way.
daphne.server.HTTPFactory = LimitedFactory


class ChatServer(daphne.server.Server):
    """`on_stop()` is awaited once, at the first SIGTERM or SIGINT; a second one calls `on_force`."""

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
        """Write one message, and wait while the reader is behind."""
        starts = message["type"] == "http.response.start"
        if starts and protocol.flow is None and not protocol.finished and protocol.channel is not None:
            protocol.flow = FlowControl()
            protocol.registerProducer(protocol.flow, True)
        goes_on = message.get("more_body", False)
        ends = message["type"] == "http.response.body" and not goes_on
        if protocol.flow and protocol.channel is not None and not protocol.finished:
            if ends:
                protocol.unregisterProducer()
            # The head goes out together with the first piece of the body, the end with the last.
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
        """Serve on while the application drains: who asks now is told so, who watches sees the end."""
        try:
            await self._on_stop()
        finally:
            for port in self.ports:
                port.stopListening()
            await self._end_tasks()
            reactor.stop()

    async def _end_tasks(self) -> None:
        """Let every `finally` run: Daphne would cancel what waits for them, and not them."""
        me = asyncio.current_task()
        for _ in range(3):
            tasks = [task for task in asyncio.all_tasks() if task is not me]
            if not tasks:
                return
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=LEFTOVER_SECONDS)

    def kill_all_applications(self) -> defer.Deferred[None]:
        """Twisted's own trigger at its end, when all applications have ended already."""
        return defer.succeed(None)
