"""An equal share of the connections for each worker of `manage.py serve --workers N`.

Patch: `doRead` and `transport` of the port on which a worker listens. The workers share one listening socket,
and Linux wakes them in the order in which they registered it: one idle worker got 40 of 40 connections. Here,
a worker with more connections than another one leaves the next connection to that one for `PAUSE_SECONDS`.
Buys: two workers on two cores carry 1.8 times the streams of one; without it 1.1 to 1.7 times.
Upstream: https://lwn.net/Articles/542629/ describes the imbalance. SO_REUSEPORT, a socket for each worker,
would end it, but a worker that dies loses the connections that wait at its socket.
Can go: when Linux wakes the processes that share a listening socket in turn.
"""

import mmap
from typing import Any

PAUSE_SECONDS = 0.02  # the other worker may be busy or frozen, so a connection is not left to it for longer
ACCEPTS_AFTER_PAUSE = 10  # connections: all clients may reconnect at once while the other worker is frozen
NOT_LISTENING = 2**32 - 1


class ConnectionCounts:
    """The number of open connections of each worker, in memory that forked processes share."""

    def __init__(self, workers: int) -> None:
        self._counts = memoryview(mmap.mmap(-1, 4 * workers)).cast("I")
        for slot in range(workers):
            self._counts[slot] = NOT_LISTENING

    def __len__(self) -> int:
        return len(self._counts)

    def __setitem__(self, slot: int, count: int) -> None:
        self._counts[slot] = count

    def lowest(self) -> int:
        """Return the smallest number of connections of a worker that listens."""
        return min(self._counts)


class AcceptBalance:
    """The accepting of connections by the worker that has this `slot` of the shared `counts`."""

    def __init__(self, counts: ConnectionCounts, slot: int) -> None:
        self._counts, self._slot = counts, slot
        self._open = 0
        self._listens = False

    def attach(self, port: Any) -> None:
        """Accept the connections of a port that has just begun to listen, whose transports call `add`."""
        accept = port.doRead

        def accept_up_to(connections: int) -> None:
            port.numberAccepts = connections
            accept()

        def accept_in_turn() -> None:
            if self._open > self._counts.lowest():
                port.stopReading()
                port.reactor.callLater(PAUSE_SECONDS, accept_after_pause)
            else:
                accept_up_to(1)

        def accept_after_pause() -> None:
            if self._listens:
                accept_up_to(ACCEPTS_AFTER_PAUSE)
                port.startReading()

        port.doRead = accept_in_turn
        port.balance = self
        self._listens = True
        self.add(0)

    def detach(self) -> None:
        """Leave all further connections to the other workers."""
        self._listens = False
        self._counts[self._slot] = NOT_LISTENING

    def add(self, connections: int) -> None:
        """Count connections that were opened or, if negative, closed."""
        self._open += connections
        if self._listens:
            self._counts[self._slot] = self._open
