"""`manage.py serve` as a process that faults happen to."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.databases import ROOT

from .front import Address, is_ready

STARTING_SECONDS = 90.0
DRAINING_SECONDS = 90.0
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


class Clock:
    """The wall clock of one or more processes, in a file that libfaketime reads every second.

    Read with each call, it would cost 13 µs a call.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.jump(0)

    def jump(self, seconds: int) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        fresh.rename(self._file)

    @property
    def env(self) -> dict[str, str]:
        """asyncio's clock is the monotonic one, which does not jump."""
        return {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Its repair of waits on the monotonic clock has threads that wait for Python's lock spin instead.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "NO_FAKE_STAT": "1",
        }


class WebProcess:
    """Stays the same over restarts: its address, its folder, its log. `prefix` begins its command."""

    def __init__(
        self, number: int, address: Address, env: dict[str, str], log: Path, prefix: Sequence[str] = ()
    ) -> None:
        self.number = number
        self.address = address
        self._prefix = prefix
        self.env = env
        self.log = log
        self.exits: list[int] = []
        self.pids: list[int] = []  # of all its lives
        self._child: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                [*self._prefix, sys.executable, "manage.py", "serve"],
                cwd=ROOT,
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.pids.append(self._child.pid)

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    async def ready(self, timeout: float = STARTING_SECONDS) -> bool:
        """Started again where it ended by itself meanwhile, as a service manager would."""
        give_up = asyncio.get_running_loop().time() + timeout
        while asyncio.get_running_loop().time() < give_up:
            if not self.is_running:
                self.launch()
            if await is_ready(self.address):
                return True
            await asyncio.sleep(0.2)
        return False

    def signal(self, number: signal.Signals) -> None:
        if self.is_running:
            assert self._child
            os.kill(self._child.pid, number)

    async def ended(self, timeout: float = DRAINING_SECONDS) -> int:
        """Wait for the end and return the exit code; kill the process if it takes longer."""
        assert self._child
        try:
            code = await asyncio.to_thread(self._child.wait, timeout)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            code = await asyncio.to_thread(self._child.wait)
        self.exits.append(code)
        return code

    def end(self) -> None:
        """Kill the process at once, frozen or not."""
        if self.is_running:
            assert self._child
            self._child.kill()
            self._child.wait()
