"""The process that forks the workers of `manage.py serve --workers N`, and starts again those that die.

It has imported the application, so the workers share the memory of what they do not change. It forks one
worker at a time, and the next one once that one serves. It has no event loop and no thread, because a fork
copies neither.

SIGHUP replaces the workers. Another process tries whether the code and the settings of that moment can
start, and prepares the database for them. Then this process becomes the new code by `exec`, so that the
listening socket and the old workers stay its own. For each new worker that serves, an old one retires.
"""

import gc
import logging
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from chatsite.server.accept_balance import NOT_LISTENING, AcceptBalance, shared_counts

OLD_WORKERS_VARIABLE = "CHAT_OLD_WORKERS"  # their process ids, the oldest first, for the program after `exec`
TRIAL = "--try"  # tells `manage.py serve` to do all that comes before serving, and to end
HEALTHY_SECONDS = 60.0  # a worker that lived so long did not fail at its start
MAX_RESTART_PAUSE_SECONDS = 30.0
FINISH = signal.SIGQUIT  # to a worker: accept no more connections, finish what runs, then end
POOL_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)

logger = logging.getLogger(__name__)

Serve = Callable[[bool, Callable[[], None], int, AcceptBalance], int]


@dataclass(eq=False)
class PoolWorker:
    """One forked process. `slot` is its place in the shared counts of connections; old ones have none."""

    pid: int
    slot: int = -1
    forked_at: float = 0.0
    serves: bool = True
    retires: bool = False


class WorkerPool:
    """Keep `count` workers running.

    `serve(first, on_ready, pool_alive, balance)` is what a worker does, the `first` one or another: it calls
    `on_ready()` once it serves, stops listening and shuts down when the descriptor `pool_alive` reports the
    end of its stream, and accepts connections by `balance`. It returns the exit code. `alive` are the ends of
    the pipe behind that descriptor. `on_failure()` is called when a worker has ended by itself.
    """

    def __init__(
        self, alive: tuple[int, int], count: int, serve: Serve, on_failure: Callable[[], None] = lambda: None
    ) -> None:
        self._alive, self._alive_writer = alive
        self._count, self._serve, self._on_failure = count, serve, on_failure
        old = os.environ.pop(OLD_WORKERS_VARIABLE, "")
        self._workers = [PoolWorker(int(pid)) for pid in old.split(",") if pid]  # the oldest first
        self._connections = shared_counts(count)
        self._selector = selectors.DefaultSelector()
        self._trial: subprocess.Popen[bytes] | None = None
        self._try_again = False  # SIGHUP came during a trial
        self._stopping = False
        self._has_served = False
        self._failures = 0  # workers in a row that died soon
        self._next_start = 0.0  # of the monotonic clock

    def run(self) -> int:
        """Fork and watch until all workers have ended; return the exit code."""
        self._signals, writer = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        for number in POOL_SIGNALS:
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, POOL_SIGNALS)
        self._selector.register(self._signals, selectors.EVENT_READ, self._on_signals)
        gc.collect()
        gc.freeze()  # else the first collection of each worker would copy the pages of every object
        self._reap()
        while self._workers or not self._stopping:
            pause = self._start_missing()
            for key, _ in self._selector.select(pause):
                key.data(key.fileobj)
            if not (self._workers or self._stopping or self._has_served):
                return 1
        return 0

    def _start_missing(self) -> float | None:
        """Fork the next worker if one is missing; return the seconds until the next try."""
        running = [worker for worker in self._workers if worker.slot >= 0]
        if self._stopping or len(running) >= self._count or any(not worker.serves for worker in running):
            return None
        if (left := self._next_start - time.monotonic()) > 0:
            return left
        self._fork()
        return None

    def _fork(self) -> None:
        reader, writer = os.pipe()
        slot = min({*range(len(self._connections))} - {worker.slot for worker in self._workers})
        signal.pthread_sigmask(signal.SIG_BLOCK, POOL_SIGNALS)  # it would have our handlers at first
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self._become_worker(writer, slot)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, POOL_SIGNALS)
        os.close(writer)
        worker = PoolWorker(pid, slot, time.monotonic(), serves=False)
        self._workers.append(worker)
        self._selector.register(reader, selectors.EVENT_READ, lambda _: self._on_ready(worker, reader))

    def _become_worker(self, ready: int, slot: int) -> NoReturn:
        """Serve in the forked process, then end it without returning to the pool's code."""
        code = 1
        try:
            os.setsid()  # so that Ctrl-C reaches only the pool, which tells the workers once
            signal.set_wakeup_fd(-1)
            for number in (*POOL_SIGNALS, FINISH):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, POOL_SIGNALS)
            self._selector.close()
            os.close(self._alive_writer)

            def on_ready() -> None:
                os.write(ready, b"+")
                os.close(ready)

            balance = AcceptBalance(self._connections, slot)
            code = self._serve(not self._has_served, on_ready, self._alive, balance)
        except BaseException:
            logger.exception("A worker has failed.")
        finally:
            logging.shutdown()
            sys.stdout.flush()
            os._exit(code)

    def _on_ready(self, worker: PoolWorker, reader: int) -> None:
        """Note that a worker serves, and let an old one go. Of one that has ended, SIGCHLD tells."""
        self._selector.unregister(reader)
        if os.read(reader, 1):
            worker.serves = self._has_served = True
            own = sum(each.serves and each.slot >= 0 for each in self._workers)
            old = [each for each in self._workers if each.slot < 0 and not each.retires]
            for each in old if own >= self._count else old[:1]:
                each.retires = True
                os.kill(each.pid, FINISH)
        os.close(reader)

    def _on_signals(self, signals: int) -> None:
        numbers = set(os.read(signals, 64))
        self._try_again |= signal.SIGHUP in numbers
        if numbers & {signal.SIGTERM, signal.SIGINT}:
            self._stop()
        self._reap()
        if self._try_again and not (self._trial or self._stopping):
            self._try_again = False
            command = [sys.executable, *sys.argv, TRIAL]
            self._trial = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - this process's own

    def _stop(self) -> None:
        self._stopping = True
        for worker in self._workers:
            os.kill(worker.pid, signal.SIGTERM)

    def _reap(self) -> None:
        if self._trial and (code := self._trial.poll()) is not None:
            self._trial = None
            if not (self._stopping or self._try_again):  # else what was tried is not what is wanted now
                self._on_trial(code)
        for worker in list(self._workers):
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                self._on_end(worker, os.waitstatus_to_exitcode(status))

    def _on_trial(self, code: int) -> None:
        if code:
            logger.error("The new code or settings cannot start. The old ones go on.")
            return
        logger.info("The workers are replaced one by one.")
        logging.shutdown()
        sys.stdout.flush()
        os.environ[OLD_WORKERS_VARIABLE] = ",".join(str(worker.pid) for worker in self._workers)
        signal.pthread_sigmask(signal.SIG_BLOCK, POOL_SIGNALS)  # until the new program handles them
        with suppress(BlockingIOError):  # it gets those, too, that have come and were not read yet
            for number in os.read(self._signals, 64):
                os.kill(os.getpid(), number)
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606

    def _on_end(self, worker: PoolWorker, code: int) -> None:
        self._workers.remove(worker)
        if worker.slot >= 0:
            self._connections[worker.slot] = NOT_LISTENING
        if self._stopping or worker.retires:
            return
        how = f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"
        if not worker.serves:
            go_on = " The old ones go on." if self._workers else ""
            logger.error("worker %s %s before it served.%s", worker.pid, how, go_on)
            if not self._workers and not self._has_served:
                return
        self._on_failure()
        lived = time.monotonic() - worker.forked_at
        self._failures = self._failures + 1 if lived < HEALTHY_SECONDS else 0
        pause = min(MAX_RESTART_PAUSE_SECONDS, 0.5 * 2 ** min(self._failures, 10)) if self._failures else 0.0
        self._next_start = time.monotonic() + pause
        logger.warning("worker %s %s, the next one starts in %g s", worker.pid, how, pause)
