"""What a stream says is sent at once, and not by way of the event loop. Import it before a server listens.

Patch: `twisted.internet.tcp.Port.transport`. Twisted keeps what is written until the loop says that the
socket takes it, which it nearly always does: for each token of a stream, the loop was told to watch the
socket, said so, and was told to stop.
Buys: without it, writing a token costs 1.6 times the CPU time, and a token from end to end 1.1 times.
Upstream: https://github.com/twisted/twisted/issues/5303, open since 2011.
Can go: when Twisted writes at once.
"""

from collections.abc import Iterable
from contextlib import suppress

from twisted.internet import tcp


class EagerTransport(tcp.Server):
    """`eager`: what the socket takes is sent at once; the rest, and what goes wrong, is left to the loop."""

    eager = False

    def writeSequence(self, iovec: Iterable[bytes]) -> None:
        data = b"".join(iovec)
        waiting = self.dataBuffer or self._tempDataBuffer
        if self.eager and self.connected and not (waiting or self.disconnecting):
            with suppress(OSError):  # it takes nothing now, or never again: the loop finds out which
                data = data[self.socket.send(data) :]
        self.write(data)


tcp.Port.transport = EagerTransport  # a port makes each connection by this name and offers no other way
