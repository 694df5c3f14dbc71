"""The child process that finds out whether it is confined: it does what it must not be able to do."""

import contextlib
import socket
import sys

from .process import UNCONFINED_EXITS


def main() -> None:
    with contextlib.suppress(PermissionError), socket.socket():
        sys.exit(UNCONFINED_EXITS["seccomp"])
    with contextlib.suppress(PermissionError), open("/proc/self/environ"):
        sys.exit(UNCONFINED_EXITS["Landlock"])
