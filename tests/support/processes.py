"""The processes of a server that has several workers."""

from pathlib import Path

from chatsite.server.worker_pool import TRIAL
from tests.support.server import Server


def workers(server: Server) -> list[int]:
    """The processes that serve: the children of the pool, but for the one that tries a reload."""
    assert server.process
    pool = server.process.pid
    children = Path(f"/proc/{pool}/task/{pool}/children").read_text("utf-8").split()
    return [
        int(child) for child in children if TRIAL.encode() not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
