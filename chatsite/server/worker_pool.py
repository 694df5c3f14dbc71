"""The process that forks the workers of `manage.py serve --workers N`, and starts again those that die.

It has imported the application, so the workers share the memory of what they do not change. It forks one
worker at a time, and the next one once that one serves. It has no event loop and no thread, because a fork
copies neither. Its supervisor (`chatsite.server.supervisor`) owns the listening socket.
"""

import gc
import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from chatsite.server.accept_balance import NOT_LISTENING, AcceptBalance, shared_counts
from chatsite.server.supervisor import READY, RETIRE, how_ended, pause_after

HEALTHY_SECONDS = 60.0  # a worker that lived so long did not fail at its start
FINISH = signal.SIGQUIT  # to a worker: accept no more connections, finish what runs, then end
POOL_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)

logger = logging.getLogger(__name__)


Serve = Callable[[bool, Callable[[], None], int, AcceptBalance], int]


@dataclass(eq=False)
class PoolWorker:
    """One forked process.

    `ready` is the read end of the pipe on which it tells that it serves, `slot` its place in the shared
    counts of connections.
    """

    pid: int
    ready: int
    slot: int
    forked_at: float
    serves: bool = False
    retires: bool = False


class WorkerPool:
    """Keep `count` workers running.

    `listening` is the descriptor of the socket on which they listen. `serve(first, on_ready, pool_alive,
    balance)` is what a worker does, the `first` one or another: it calls `on_ready()` once it serves, stops
    listening and shuts down when the descriptor `pool_alive` reports the end of its stream, and accepts
    connections by `balance`. It returns the exit code. `on_failure()` is called when a worker has ended by
    itself.
    """

    def __init__(
        self,
        control: socket.socket,
        listening: int,
        count: int,
        serve: Serve,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        self._control, self._listening = control, listening
        self._count, self._serve, self._on_failure = count, serve, on_failure
        self._workers: list[PoolWorker] = []  # the oldest first
        self._connections = shared_counts(count)
        self._alive, self._alive_writer = os.pipe()
        self._selector = selectors.DefaultSelector()
        self._stopping = False
        self._has_served = False
        self._failures = 0  # workers in a row that died soon
        self._next_start = 0.0  # of the monotonic clock

    def run(self) -> int:
        """Fork and watch until all workers have ended; return the exit code."""
        self._signals, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        for number in POOL_SIGNALS:
            signal.signal(number, lambda *_: None)
        self._selector.register(self._signals, selectors.EVENT_READ, self._on_signals)
        self._selector.register(self._control, selectors.EVENT_READ, self._on_control)
        gc.collect()
        gc.freeze()  # else the first collection of each worker would copy the pages of every object
        while True:
            pause = self._start_missing()
            for key, _ in self._selector.select(pause):
                key.data(key.fileobj)
            if not self._workers and (self._stopping or not self._count or not self._has_served):
                return 0 if self._has_served or self._stopping else 1

    def _start_missing(self) -> float | None:
        """Fork the next worker if one is missing; return the seconds until the next try."""
        running = [worker for worker in self._workers if not worker.retires]
        if self._stopping or len(running) >= self._count or any(not worker.serves for worker in running):
            return None
        if (left := self._next_start - time.monotonic()) > 0:
            return left
        self._fork()
        return None

    def _fork(self) -> None:
        reader, writer = os.pipe()
        slot = min({*range(len(self._connections))} - {worker.slot for worker in self._workers})
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self._become_worker(writer, slot)
        os.close(writer)
        worker = PoolWorker(pid, reader, slot, time.monotonic())
        self._workers.append(worker)
        self._selector.register(reader, selectors.EVENT_READ, lambda _: self._on_ready(worker))

    def _become_worker(self, ready: int, slot: int) -> NoReturn:
        """Serve in the forked process, then end it without returning to the pool's code."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in (*POOL_SIGNALS, FINISH):
                signal.signal(number, signal.SIG_DFL)
            self._selector.close()
            self._control.close()
            os.close(self._alive_writer)

            def on_ready() -> None:
                os.write(ready, READY)
                os.close(ready)

            code = self._serve(
                not self._has_served, on_ready, self._alive, AcceptBalance(self._connections, slot)
            )
        except BaseException:
            logger.exception("A worker has failed.")
        finally:
            logging.shutdown()
            sys.stdout.flush()
            os._exit(code)

    def _on_ready(self, worker: PoolWorker) -> None:
        """Note that a worker serves. At the end of the stream, SIGCHLD tells the rest."""
        self._selector.unregister(worker.ready)
        if os.read(worker.ready, 1):
            worker.serves = self._has_served = True
            self._control.send(READY)
        os.close(worker.ready)
        worker.ready = -1

    def _on_control(self, _: object) -> None:
        message = self._control.recv(64)
        for _each in message.split(RETIRE)[1:]:
            self._retire_oldest()
        if not message:
            self._selector.unregister(self._control)
            self._abandon()

    def _retire_oldest(self) -> None:
        worker = next((worker for worker in self._workers if not worker.retires), None)
        self._count = max(0, self._count - 1)
        if worker is not None:
            worker.retires = True
            os.kill(worker.pid, FINISH)

    def _on_signals(self, _: object) -> None:
        for number in os.read(self._signals, 64):
            if number == signal.SIGCHLD:
                self._reap()
            else:
                self._stop()

    def _abandon(self) -> None:
        """Free the port at once, because the supervisor has died; the workers end what runs."""
        self._stopping = True
        os.close(self._listening)
        os.close(self._alive_writer)

    def _stop(self) -> None:
        self._stopping = True
        for worker in self._workers:
            os.kill(worker.pid, signal.SIGTERM)

    def _reap(self) -> None:
        for worker in list(self._workers):
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                self._on_end(worker, os.waitstatus_to_exitcode(status))

    def _on_end(self, worker: PoolWorker, code: int) -> None:
        self._workers.remove(worker)
        self._connections[worker.slot] = NOT_LISTENING
        if worker.ready >= 0:
            self._selector.unregister(worker.ready)
            os.close(worker.ready)
        if self._stopping or worker.retires:
            return
        if not self._has_served:
            logger.error("worker %s %s before it served", worker.pid, how_ended(code))
            return
        self._on_failure()
        lived = time.monotonic() - worker.forked_at
        self._failures = self._failures + 1 if lived < HEALTHY_SECONDS else 0
        pause = pause_after(self._failures) if self._failures else 0.0
        self._next_start = time.monotonic() + pause
        logger.warning("worker %s %s, the next one starts in %g s", worker.pid, how_ended(code), pause)
