"""Child processes that read uploaded files: pictures (`decoding.py`) and documents (`extraction.py`).

A child is a new interpreter with an empty environment and not a fork of the server, so it holds none of the
server's secrets, connections or files.
"""

import logging
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from chat.fair_executor import FairExecutor

START = Path(__file__).with_name("confined_process.py")
CHILDREN = 2  # per process of the server; the executor gives each person one of them at a time
READERS = FairExecutor("reading", CHILDREN)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one child. At most `output_bytes` of its output are read."""

    address_space_bytes: int
    cpu_seconds: int
    wall_seconds: float
    output_bytes: int


class Expired(Exception):
    """The child was ended because its time was over."""


def run_confined(program: Path, file: IO[bytes], limits: Limits, *arguments: str) -> bytes:
    """Run the script `program` on `file`, a real file, and return what it writes. Blocks.

    The output is not trusted: the file may have taken control of the child. It is empty if the child wrote
    more than `output_bytes`. `arguments` are the caller's own words, nothing from outside. Raises Expired.
    """
    file.seek(0)
    expired = threading.Event()
    command = [sys.executable, "-I", str(START), str(program)]
    command += [str(limits.address_space_bytes), str(limits.cpu_seconds), *arguments]
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
        logger.warning("the reader of an uploaded file, %s, ended with %s", program.name, child.returncode)
    return output


def _end(child: "subprocess.Popen[bytes]", expired: threading.Event) -> None:
    expired.set()
    child.kill()
