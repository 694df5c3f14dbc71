"""The processes of a server that has several workers."""

from pathlib import Path

from tests.support.server import Server


def children(process: int) -> list[int]:
    return [int(key) for key in Path(f"/proc/{process}/task/{process}/children").read_text("utf-8").split()]


def pools(server: Server) -> list[int]:
    assert server.process
    assert server.process.pid
    return children(server.process.pid)


def workers(server: Server) -> list[int]:
    """The processes that serve: the children of all pools."""
    return [worker for pool in pools(server) for worker in children(pool)]
