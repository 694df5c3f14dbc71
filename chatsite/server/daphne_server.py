"""Daphne with flow control, a graceful shutdown, and a transport that writes at once.

Patch: `daphne.server.HTTPFactory`, for requests and channels of our own; a subclass of
`daphne.server.Server`; and `twisted.internet.tcp.Port.transport`. Twisted buffers what is written until the
event loop reports the socket as writable, which it nearly always is: each token of a stream registered the
socket with the loop, waited for the report, and unregistered it.
Buys: memory and guarantees. Stock Daphne buffers all that a slow client does not read (60 MB of a stream of
60 MB; here nothing), and on SIGTERM cuts streams off without an end. And CPU time: without the transport,
writing a token costs 1.6 times as much, and a token from end to end 1.1 times; 1,000 streams of 10 tokens a
second would need more than the one core that they have.
Upstream: https://github.com/django/daphne/issues/170 for slow readers, of WebSockets, and
https://github.com/twisted/twisted/issues/5303, open since 2011. The rest is not reported.
Can go: each part when Daphne and Twisted have it; the server that Django's documentation names has to give
these guarantees.
"""

import asyncio
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any, ClassVar

import daphne.http_protocol
import daphne.server
from django.conf import settings
from twisted.internet import defer, reactor, tcp
from twisted.internet.interfaces import IPushProducer
from twisted.web.http import _GenericHTTPChannelProtocol
from zope.interface import implementer

from chat.event_stream import TAKE_OVER, FrameSource
from chat.files.receiving import UPLOAD
from chat.telemetry import request_id, tracing
from chatsite.server.accept_balance import AcceptBalance
from chatsite.server.connection import DeadlineChannel, LimitedRequest
from chatsite.server.stream_connection import StreamConnection

RETIRE_MARGIN_SECONDS = 60.0  # after the longest reply, for clients to leave a server that retires
RETIRE_INTERVAL_SECONDS = 0.25
LEFTOVER_SECONDS = 2.0  # for the last tasks to end, in each of three rounds


class Transport(tcp.Server):
    """Send at once what the socket accepts, if `eager`; leave the rest, and errors, to the event loop."""

    open: ClassVar[int] = 0  # connections of this process
    on_change: ClassVar[Callable[[int], None] | None] = None  # called with that number
    eager = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._count(1)

    def connectionLost(self, reason: Any) -> None:
        was_open = hasattr(self, "socket")  # Twisted may call this twice
        super().connectionLost(reason)
        if was_open:
            self._count(-1)

    @staticmethod
    def _count(connections: int) -> None:
        Transport.open += connections
        if on_change := Transport.on_change:
            on_change(Transport.open)

    def writeSequence(self, iovec: Iterable[bytes]) -> None:
        data = b"".join(iovec)
        waiting = self.dataBuffer or self._tempDataBuffer
        if self.eager and self.connected and not (waiting or self.disconnecting):
            with suppress(OSError):  # it accepts nothing now, or is broken: the loop finds out which
                data = data[self.socket.send(data) :]
        self.write(data)


tcp.Port.transport = Transport  # a port looks up its connections' class by this name only


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


class LimitedFactory(daphne.http_protocol.HTTPFactory):
    @staticmethod
    def protocol() -> Any:
        """Return Twisted's own protocol around a `DeadlineChannel`."""
        return _GenericHTTPChannelProtocol(DeadlineChannel())

    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = LimitedRequest
        return protocol

    def log(self, request: LimitedRequest) -> None:
        """Write our access log. Twisted's own method formats a line for each request, only to discard it."""
        request.end_record(request.code)


# Daphne's server looks its factory up by this name, and has no other hook for it.
daphne.server.HTTPFactory = LimitedFactory


class ChatServer(daphne.server.Server):
    """Daphne's server with flow control and a graceful shutdown.

    The first SIGTERM or SIGINT awaits `on_stop(grace)`, where `grace` is the time in seconds that replies may
    still take; a further one calls `on_force()`. SIGQUIT retires the server: it accepts no more connections,
    serves those that are open until their clients have left, and then ends. `on_listen()` is called once it
    accepts the connections of the socket `listening`.
    """

    def __init__(
        self,
        application: Any,
        listening: socket.socket,
        *,
        grace: float,
        on_stop: Callable[[float], Awaitable[None]],
        on_force: Callable[[], None],
        on_listen: Callable[[], object],
        balance: AcceptBalance | None = None,
    ) -> None:
        super().__init__(application, endpoints=["listening"], signal_handlers=False, server_name="")
        self.endpoints: list[str] = []  # for one, Twisted would load all its plugins, 10 MB
        self._socket = listening
        self._balance = balance  # with the other workers of this port
        self.ports: list[Any] = []
        self._on_stop, self._on_force, self._on_listen = on_stop, on_force, on_listen
        self._grace = grace
        self._stopping: asyncio.Task[None] | None = None
        self._retiring: asyncio.Task[None] | None = None

    def run(self) -> None:
        reactor.callWhenRunning(self._prepare)
        super().run()

    def create_application(self, protocol: LimitedRequest, scope: dict[str, Any]) -> Any:
        if record := protocol.record:
            scope[request_id.REQUEST_ID_SCOPE_KEY] = record.id
            if record.span:
                scope[tracing.SPAN_SCOPE_KEY] = record.span
        if protocol.upload is not None:
            scope[UPLOAD] = protocol.upload
        scope[TAKE_OVER] = partial(self.take_over, protocol)
        # Nothing of the request in whose context Twisted last began to read from a socket, or set its timer.
        return Context().run(super().create_application, protocol, scope)

    def _prepare(self) -> None:
        loop = asyncio.get_event_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.start_shutdown)
        loop.add_signal_handler(signal.SIGQUIT, self.start_retirement)
        self._socket.setblocking(False)
        port = reactor.adoptStreamPort(self._socket.fileno(), self._socket.family, self.http_factory)
        self._socket.close()  # Twisted has a copy
        self.ports.append(port)
        if self._balance:
            self._balance.attach(port)
            Transport.on_change = self._balance.tell
        self._on_listen()

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

    def take_over(self, protocol: LimitedRequest, source: FrameSource) -> None:
        """Send the rest of a stream without the request, which is over as far as Daphne knows."""
        if protocol.channel is None or protocol.finished:
            source.leave()
            return
        connection = StreamConnection(protocol, source)
        protocol.channel.release(protocol)
        self.protocol_disconnected(protocol)
        connection.start()

    def protocol_disconnected(self, protocol: LimitedRequest) -> None:
        if protocol.flow:
            protocol.flow.open.set()
        super().protocol_disconnected(protocol)

    def start_shutdown(self) -> None:
        if self._retiring:
            self._retiring.cancel()
        if self._stopping is None:
            self._stopping = asyncio.get_event_loop().create_task(self._stop(self._grace))
        else:
            self._on_force()

    def start_retirement(self) -> None:
        if self._retiring is None and self._stopping is None:
            self._retiring = asyncio.get_event_loop().create_task(self._retire())

    async def _retire(self) -> None:
        """Shut down once every client has left. Another process accepts the new connections meanwhile.

        Idle connections stay open until their clients or Twisted's timeout close them: a request that is
        under way to a connection that this server closes would be lost.
        """
        self.stop_listening()
        DeadlineChannel.retiring = True
        seconds = settings.REPLY_MAX_SECONDS + RETIRE_MARGIN_SECONDS
        ends_at = time.monotonic() + seconds
        while Transport.open and time.monotonic() < ends_at:  # noqa: ASYNC110 - Twisted closes them
            await asyncio.sleep(RETIRE_INTERVAL_SECONDS)
        self._stopping = asyncio.get_event_loop().create_task(self._stop(seconds))

    async def _stop(self, grace: float) -> None:
        """Keep serving while the application drains: new requests are refused with a reason, streams end."""
        try:
            await self._on_stop(grace)
        finally:
            self.stop_listening()
            await self._end_tasks()
            reactor.stop()

    def stop_listening(self) -> None:
        if self._balance:
            self._balance.detach()
        while self.ports:
            self.ports.pop().stopListening()

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
