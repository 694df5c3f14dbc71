"""Child processes that read uploaded files: pictures (`decoding.py`) and documents (`extraction.py`).

A child is a new interpreter with an empty environment and not a fork of the server, so it holds none of the
server's secrets, connections or files.
"""

import logging
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

CONFINED_PROGRAM = Path(__file__).with_name("confined") / "process.py"
PROJECT = Path(__file__).parents[2]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """The limits of one child. At most `output_bytes` of its output are read."""

    address_space_bytes: int
    cpu_seconds: int
    wall_seconds: float
    output_bytes: int


class Expired(Exception):
    """The child was ended because its time was over."""


class TooSlow(Exception):
    """The child was ended at the limits of a quick attempt. With its own limits it may succeed."""


@dataclass(frozen=True, slots=True)
class QuickAttempt:
    """The lower limits of a first attempt."""

    cpu_seconds: int
    wall_seconds: float

    def lowered(self, limits: ChildLimits) -> ChildLimits:
        cpu_seconds = min(limits.cpu_seconds, self.cpu_seconds)
        wall_seconds = min(limits.wall_seconds, self.wall_seconds)
        return replace(limits, cpu_seconds=cpu_seconds, wall_seconds=wall_seconds)


_attempt: ContextVar[QuickAttempt | None] = ContextVar("attempt", default=None)


@contextmanager
def attempt(quick: QuickAttempt) -> Iterator[None]:
    """Have children in this block, in this thread, ended at these limits if theirs are higher."""
    token = _attempt.set(quick)
    try:
        yield
    finally:
        _attempt.reset(token)


def run_confined(module: str, file: IO[bytes], limits: ChildLimits, *arguments: str) -> bytes:
    """Call `main` of the module with `file`, a real file, as standard input; return its output. Blocks.

    The output is not trusted: the file may have taken control of the child. It is empty if the child wrote
    more than `output_bytes`. `arguments` are the caller's own words, nothing from outside. Raises Expired,
    and TooSlow in a quick attempt.
    """
    quick = _attempt.get()
    lowered = quick.lowered(limits) if quick else limits
    try:
        return _run(_command(module, lowered, *arguments), file, lowered, module)
    except Expired:
        if lowered == limits:
            raise
        raise TooSlow from None


def _command(module: str, limits: ChildLimits, *arguments: str) -> list[str]:
    command = [sys.executable, "-I", str(CONFINED_PROGRAM), str(PROJECT), module]
    return [*command, str(limits.address_space_bytes), str(limits.cpu_seconds), *arguments]


def _run(command: list[str], file: IO[bytes], limits: ChildLimits, module: str) -> bytes:
    file.seek(0)
    expired = threading.Event()
    with subprocess.Popen(  # noqa: S603 - no input is part of the command
        command,
        stdin=file,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
    ) as child:
        timer = threading.Timer(limits.wall_seconds, _end, (child, expired))
        timer.start()
        try:
            assert child.stdout
            output = child.stdout.read(limits.output_bytes + 1)
            if len(output) > limits.output_bytes:
                child.kill()
                output = b""
            child.wait()
        finally:
            timer.cancel()
            child.kill()
    if expired.is_set() or child.returncode == -signal.SIGXCPU:
        raise Expired
    if child.returncode:
        logger.warning("the reader of an uploaded file, %s, ended with %s", module, child.returncode)
    return output


def _end(child: "subprocess.Popen[bytes]", expired: threading.Event) -> None:
    expired.set()
    child.kill()
