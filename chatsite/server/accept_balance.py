"""An equal share of the connections for each worker of `manage.py serve --workers N`.

Patch: `doRead` of the port on which a worker listens. The workers share one listening socket, and Linux wakes
them in the order in which they registered it: one idle worker got 40 of 40 connections. Here, a worker with
more connections than another one leaves the next connection to that one for a moment.
Buys: the busiest of two workers has 51 % of the work of 200 streams; without it 76 %, so two workers would
carry 1.3 times the streams of one process and not 1.8 times.
Upstream: https://lwn.net/Articles/542629/ describes the imbalance. SO_REUSEPORT, a socket for each worker,
would end it, but a worker that dies loses the connections that wait at its socket.
Can go: when Linux wakes the processes that share a listening socket in turn.
"""

import mmap
from typing import Any

# The other worker may be busy or frozen, so a connection is not left to it for longer.
ACCEPT_PAUSE_SECONDS = 0.02
ACCEPTS_AFTER_PAUSE = 10  # connections: all clients may reconnect at once while the other worker is frozen
NOT_LISTENING = 2**32 - 1


def shared_counts(workers: int) -> "memoryview[int]":
    """Return a place for each worker's number of open connections, in memory that forked processes share."""
    counts = memoryview(mmap.mmap(-1, 4 * workers)).cast("I")
    for slot in range(workers):
        counts[slot] = NOT_LISTENING
    return counts


class AcceptBalance:
    """The accepting of connections by the worker that has this `slot` of the shared `counts`."""

    def __init__(self, counts: "memoryview[int]", slot: int) -> None:
        self._counts, self._slot = counts, slot

    def attach(self, port: Any) -> None:
        """Accept the connections of a port that has just begun to listen."""
        accept = port.doRead
        self._counts[self._slot] = 0

        def accept_up_to(connections: int) -> None:
            port.numberAccepts = connections
            accept()

        def accept_in_turn() -> None:
            if self._counts[self._slot] > min(self._counts):
                port.stopReading()
                port.reactor.callLater(ACCEPT_PAUSE_SECONDS, accept_after_pause)
            else:
                accept_up_to(1)

        def accept_after_pause() -> None:
            if self._counts[self._slot] != NOT_LISTENING:
                accept_up_to(ACCEPTS_AFTER_PAUSE)
                port.startReading()

        port.doRead = accept_in_turn

    def detach(self) -> None:
        """Leave all further connections to the other workers."""
        self._counts[self._slot] = NOT_LISTENING

    def tell(self, connections: int) -> None:
        """Note how many connections this worker has."""
        if self._counts[self._slot] != NOT_LISTENING:
            self._counts[self._slot] = connections
