"""The process above the workers of `manage.py serve --workers N`: it owns the socket that they listen on.

It starts a pool, the process that forks the workers (`chatsite.server.worker_pool`). SIGHUP starts a second
pool with the code and the settings of that moment. For each worker of it that serves, one of the first pool
retires. SIGTERM and SIGINT end both pools. This process runs as a file with the standard library alone, so
that it rarely needs to be replaced itself, and takes little memory.

A pool and its supervisor share a socket pair. `READY` from a pool: one more worker serves. `RETIRE` to a
pool: let one worker finish and end. The end of the stream means that the other process has died.
"""

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime

# Connections that may wait to be accepted: after a restart all clients reconnect at once.
BACKLOG_CONNECTIONS = 2_048
LOGGER = "chatsite.server.supervisor"
READY, RETIRE = b"+", b"-"
FORKER = "The process that forks the workers"
MAX_RESTART_PAUSE_SECONDS = 30.0  # before a pool that died is started again
SUPERVISOR_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def pause_after(failures: int) -> float:
    """Return the seconds to wait before the next start, after so many failures in a row."""
    return min(MAX_RESTART_PAUSE_SECONDS, 0.5 * 2 ** min(failures, 10))


def how_ended(code: int) -> str:
    """Return how a process ended, from the code that `subprocess` gives: that of a signal is negative."""
    return f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"


def shell_code(code: int) -> int:
    """Return the exit code that a shell gives for that of `subprocess`."""
    return 128 - code if code < 0 else code


class Pool:
    """One process that forks workers, and this end of its socket pair."""

    def __init__(self, command: list[str], listening: int) -> None:
        self.control, theirs = socket.socketpair()
        inherited = f"{listening},{theirs.fileno()}"
        self.process = subprocess.Popen(  # noqa: S603 (the command line of this process, no user input)
            [*command, "--pool", inherited],
            pass_fds=(listening, theirs.fileno()),
            start_new_session=True,  # so that Ctrl-C reaches only the supervisor, which tells the pools once
        )
        theirs.close()
        self.ready = 0  # workers that have begun to serve

    def retire_one(self) -> None:
        with suppress(OSError):  # the pool has died: the end of the stream is handled elsewhere
            self.control.send(RETIRE)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()


class PoolSupervisor:
    """Keep one pool running; replace it on SIGHUP."""

    def __init__(self, command: list[str], listening: int, log_format: str) -> None:
        self._command, self._listening, self._log_format = command, listening, log_format
        self._pools: list[Pool] = []  # the last one is the newest
        self._selector = selectors.DefaultSelector()
        self._stopping = False
        self._reload_again = False  # SIGHUP came while a replacement was running
        self._failures = 0  # pools in a row that died soon
        self._next_start: float | None = None  # of the monotonic clock, while no pool runs
        self._exit_code = 0

    def run(self) -> int:
        """Supervise until the last pool has ended; return the exit code."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        for number in SUPERVISOR_SIGNALS:
            signal.signal(number, lambda *_: None)
        self._selector.register(reader, selectors.EVENT_READ)
        self._start()
        while self._pools or self._next_start is not None:
            for key, _ in self._selector.select(self._pause()):
                if key.data is None:
                    for signalled in os.read(reader, 64):
                        self._on_signal(signalled)
                elif key.data in self._pools:
                    self._on_message(key.data)
            if self._pause() == 0:
                self._start()
        return self._exit_code

    def _pause(self) -> float | None:
        """Return the seconds until the next start; None if none is due."""
        return None if self._next_start is None else max(0.0, self._next_start - time.monotonic())

    def _start(self) -> None:
        self._next_start = None
        pool = Pool(self._command, self._listening)
        self._pools.append(pool)
        self._selector.register(pool.control, selectors.EVENT_READ, pool)
        self._started_at = time.monotonic()

    def _on_signal(self, number: int) -> None:
        if number == signal.SIGHUP:
            self._reload()
            return
        self._stopping = True
        self._next_start = None
        for pool in self._pools:
            pool.stop()

    def _reload(self) -> None:
        if self._stopping or not self._pools:  # the next start has the code of that moment in any case
            return
        if len(self._pools) > 1 and not self._pools[-1].ready:
            self._reload_again = True
        else:
            self._log("The workers are replaced one by one.")
            self._start()

    def _on_message(self, pool: Pool) -> None:
        try:
            message = pool.control.recv(64)
        except OSError:
            message = b""
        if not message:
            self._on_end(pool)
            return
        for _ in message:
            pool.ready += 1
            for older in self._pools[: self._pools.index(pool)]:
                older.retire_one()
        if self._reload_again:
            self._reload_again = False
            self._reload()

    def _on_end(self, pool: Pool) -> None:
        newest = pool is self._pools[-1]
        self._selector.unregister(pool.control)
        pool.control.close()
        code = pool.process.wait()
        self._pools.remove(pool)
        if self._stopping:
            early = code == -signal.SIGTERM  # it did not yet handle the signal, so it had no replies
            self._exit_code = self._exit_code or (0 if early else shell_code(code))
        elif newest and self._next_start is None:
            self._on_newest_end(pool, code)

    def _on_newest_end(self, pool: Pool, code: int) -> None:
        if pool.ready:
            self._start_again(code)
        elif self._pools:
            self._log(f"{FORKER} {how_ended(code)} before a new worker served. The old ones go on.", "ERROR")
        else:
            self._log(f"{FORKER} {how_ended(code)} before a worker served. The server ends.", "ERROR")
            self._exit_code = shell_code(code) or 1

    def _log(self, message: str, level: str = "INFO") -> None:
        print(log_entry(self._log_format, message, level), file=sys.stderr, flush=True)

    def _start_again(self, code: int) -> None:
        lived = time.monotonic() - self._started_at
        self._failures = self._failures + 1 if lived < MAX_RESTART_PAUSE_SECONDS else 0
        pause = pause_after(self._failures)
        self._log(f"{FORKER} {how_ended(code)}. Next start in {pause:g} s.", "WARNING")
        self._next_start = time.monotonic() + pause


def log_entry(log_format: str, message: str, level: str) -> str:
    """Return a message as `chat.telemetry.log_format` writes it, which needs Django."""
    now = datetime.now(UTC)
    if log_format == "json":
        time = now.isoformat(timespec="milliseconds")
        return json.dumps({"time": time, "level": level, "logger": LOGGER, "message": message})
    return f"{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03d} {level} {LOGGER}: {message}"


def listen(host: str, port: int, backlog: int = BACKLOG_CONNECTIONS) -> socket.socket:
    """Return a listening socket. Raises OSError: when the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    sock.listen(backlog)
    return sock


def main() -> None:
    """Run as `supervisor.py DESCRIPTOR LOG_FORMAT COMMAND...`, where the command is a pool's."""
    _, listening, log_format, *command = sys.argv
    sys.exit(PoolSupervisor(command, int(listening), log_format).run())


if __name__ == "__main__":
    main()
