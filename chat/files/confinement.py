"""Child processes that read untrusted files: pictures, documents, imports, and pages of the web.

A child is a new interpreter with an empty environment and not a fork of the server, so it holds none of the
server's secrets, connections or files.
"""

import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO

from django.conf import settings

from .confined.isolation import UNCONFINED_EXITS
from .problems import UnconfinedFiles

CONFINED_PROGRAM = Path(__file__).with_name("confined") / "process.py"
CONFINEMENT_PROBE = "chat.files.confined.isolation"
PIECE_BYTES = 65_536
BEAT_SECONDS = 1.0
EXIT_SECONDS = 5.0  # for a child that has closed its output
REFUSING = (
    "Files can be neither added nor imported: this system lacks %s, which the processes that read them need. "
    "UNCONFINED_FILES=warn reads them without."
)
WARNING = (
    "The processes that read files are not confined: this system lacks %s, and UNCONFINED_FILES is warn."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """The limits of one child. `wall_seconds` is the time in which its output is waited for."""

    address_space_bytes: int
    cpu_seconds: int
    wall_seconds: float
    output_bytes: int


PROBE_LIMITS = ChildLimits(500_000_000, cpu_seconds=5, wall_seconds=20, output_bytes=0)


class Expired(Exception):
    """The child was ended because its time was over."""


class TooMuchOutput(Exception):
    """The child was ended because it wrote more than it may."""


class Crashed(Exception):
    """The child ended with an error: mostly for want of memory. It may have written something before."""


class TooSlow(Exception):
    """The child was ended at the limits of a quick attempt. With its own limits it may succeed."""


@dataclass(frozen=True, slots=True)
class QuickAttempt:
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


def run_confined(program: str | Path, file: IO[bytes], limits: ChildLimits, *arguments: str) -> bytes:
    """Run the program on `file`, a real file, as its standard input; return its output. Blocks.

    `program` is a module, whose `main` is called, or the path of a script. The output is not trusted: the
    file may have taken control of the child. It is empty if the child wrote more than `output_bytes`.
    `arguments` are the caller's own words, nothing from outside. Raises Expired, TooSlow in a quick attempt,
    and UnconfinedFiles.
    """
    quick = _attempt.get()
    lowered = quick.lowered(limits) if quick else limits
    output = bytearray()
    try:
        for piece in _pieces(program, file, lowered, *arguments):
            output += piece
    except Expired:
        if lowered == limits:
            raise
        raise TooSlow from None
    except TooMuchOutput:
        return b""
    except Crashed as error:
        logger.warning("the reader of an uploaded file, %s, ended with %s", program, error)
    return bytes(output)


def stream_confined(
    program: str | Path,
    file: IO[bytes],
    limits: ChildLimits,
    *arguments: str,
    line_bytes: int,
    beat: Callable[[], object] = lambda: None,
) -> Generator[bytes, None, None]:
    """Run the program as `run_confined` does, and return its lines, without their ends, as it writes them.

    `beat` is called every `BEAT_SECONDS` while the child is waited for. What it raises ends the child and is
    raised here: so a person stops it. Closing the generator ends the child, too. The time that the caller
    takes between two lines counts to no limit. Raises Expired, TooMuchOutput (also of a line of more than
    `line_bytes`), Crashed and UnconfinedFiles.
    """
    line = bytearray()
    with closing(_pieces(program, file, limits, *arguments, beat=beat)) as pieces:
        for piece in pieces:
            for number, part in enumerate(piece.split(b"\n")):
                if number:
                    yield bytes(line)
                    line.clear()
                line += part
                if len(line) > line_bytes:
                    raise TooMuchOutput
    if line:
        yield bytes(line)


def _pieces(
    program: str | Path,
    file: IO[bytes],
    limits: ChildLimits,
    *arguments: str,
    beat: Callable[[], object] = lambda: None,
    unconfined: str = "",
) -> Generator[bytes, None, None]:
    # The child gets the descriptor, which stands behind what is buffered. A seek from the end drops that.
    file.seek(0, os.SEEK_END)
    file.seek(0)
    command = [sys.executable, "-I", str(CONFINED_PROGRAM), str(program)]
    command += [
        unconfined or settings.UNCONFINED_FILES,
        str(limits.address_space_bytes),
        str(limits.cpu_seconds),
        *arguments,
    ]
    with subprocess.Popen(  # noqa: S603 - no input is part of the command
        command,
        stdin=file,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        env={},
        start_new_session=True,
    ) as child:
        try:
            yield from _output(child, limits, beat)
            _check_end(child)
        finally:
            child.kill()


def _output(
    child: "subprocess.Popen[bytes]", limits: ChildLimits, beat: Callable[[], object]
) -> Iterator[bytes]:
    assert child.stdout
    poll = select.poll()
    poll.register(child.stdout, select.POLLIN)
    waited, written, beaten = 0.0, 0, time.monotonic()
    while True:
        began = time.monotonic()
        is_ready = poll.poll(1_000 * min(BEAT_SECONDS, limits.wall_seconds - waited))
        now = time.monotonic()
        waited += now - began
        if waited >= limits.wall_seconds:
            raise Expired
        if now - beaten >= BEAT_SECONDS:
            beat()
            beaten = now
        if not is_ready:
            continue
        piece = child.stdout.read(PIECE_BYTES)
        if not piece:
            return
        written += len(piece)
        if written > limits.output_bytes:
            raise TooMuchOutput
        yield piece


def _check_end(child: "subprocess.Popen[bytes]") -> None:
    try:
        code = child.wait(EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise Expired from None
    if code == -signal.SIGXCPU:
        raise Expired
    for lacking, unconfined_exit in UNCONFINED_EXITS.items():
        if code == unconfined_exit:
            raise UnconfinedFiles(lacking)
    if code:
        raise Crashed(code)


@cache
def lacking() -> str:
    """Return what this system lacks to confine a child: "Linux", "Landlock" or "seccomp"; "" if nothing.

    Blocks until a child has tried it, the first time. Raises Expired and Crashed if none can be run.
    """
    try:
        with tempfile.TemporaryFile() as file:
            list(_pieces(CONFINEMENT_PROBE, file, PROBE_LIMITS, unconfined="refuse"))
    except UnconfinedFiles as error:
        return error.lacking
    return ""


def warn_if_unconfined() -> None:
    """Log, where a site reads files, that their readers are not confined. Blocks as `lacking`."""
    if not (settings.ATTACHMENTS or settings.IMPORT_MAX_MB):
        return
    with suppress(Expired, Crashed):  # which the set-up check tells, and each file that cannot be read
        if found := lacking():
            logger.warning(REFUSING if settings.UNCONFINED_FILES == "refuse" else WARNING, found)
