"""Processes of this bench: their start and end, and what Linux says of them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
TICKS = os.sysconf("SC_CLK_TCK")
ENDING = 5.0  # seconds until a process that was told to end is killed


@dataclass(frozen=True, slots=True)
class Process:
    """Readings of a running process. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html"""

    pid: int

    def cpu(self) -> float:
        """Seconds of user and system time so far, of all threads; in steps of 10 ms."""
        fields = self._read("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def waited(self) -> float:
        """Seconds for which its first thread, the event loop's, could have run and had no core.

        https://docs.kernel.org/scheduler/sched-stats.html
        """
        return int(self._read("schedstat").split()[1]) / 1e9

    def children(self) -> list["Process"]:
        """Return the processes that this one has started and that still run."""
        pids = self._read(f"task/{self.pid}/children").split()
        return [Process(int(pid)) for pid in pids]

    def memory(self) -> float:
        """Resident memory, MB (10⁶ bytes)."""
        return self._status("VmRSS") * 1024 / 1e6

    def own_memory(self) -> float:
        """Resident memory without mapped files, MB: SQLite maps pages that belong to the system’s cache."""
        return self._status("RssAnon") * 1024 / 1e6

    def threads(self) -> int:
        return self._status("Threads")

    def files(self) -> int:
        """Open file descriptors."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def _status(self, name: str) -> int:
        match = re.search(rf"^{name}:\s+(\d+)", self._read("status"), re.MULTILINE)
        assert match, f"no {name} in /proc/{self.pid}/status"
        return int(match[1])

    def _read(self, name: str) -> str:
        return Path(f"/proc/{self.pid}/{name}").read_text()


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that serve behind one port."""

    all: tuple[Process, ...]

    @classmethod
    def of(cls, pool: Process) -> "Workers":
        return cls(tuple(pool.children()))

    def cpu(self) -> float:
        """Seconds of user and system time of all workers so far."""
        return sum(worker.cpu() for worker in self.all)


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[Process, str]]:
    """`python <arguments>` until the block is left: the process, and the address it prints first."""
    command = [sys.executable, *arguments]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert child.stdout
        first = child.stdout.readline()
        address = re.search(r"http://\S+", first)
        if not address:
            raise RuntimeError(f"{' '.join(arguments)} did not say where it listens: {first!r}")
        yield Process(child.pid), address[0].rstrip("/")
    finally:
        end(child)


def end(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.wait(ENDING)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
