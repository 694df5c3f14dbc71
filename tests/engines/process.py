"""A program beside the tests, for as long as they need it."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import missing

END = 20.0  # seconds


@contextmanager
def running(
    package: str, command: Sequence[str], log: Path, env: dict[str, str], *, pass_fds: Sequence[int] = ()
) -> Iterator[None]:
    """`package` is Debian's, to name in the advice to install it."""
    if shutil.which(command[0]) is None:
        missing(command[0], f"install the package {package}")
    with log.open("w") as output:
        process = subprocess.Popen(
            command, env={**os.environ, **env}, stdout=output, stderr=output, pass_fds=pass_fds
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(END)
