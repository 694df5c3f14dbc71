"""The processes of this machine, and those of a server that has several workers."""

from contextlib import suppress
from pathlib import Path

from chatsite.server.worker_pool import TRIAL
from tests.support.server import Server


def workers(server: Server) -> list[int]:
    """The processes that serve: the children of the pool, but for the one that tries a reload."""
    assert server.process
    pool = server.process.pid
    children = Path(f"/proc/{pool}/task/{pool}/children").read_text("utf-8").split()
    commands = {int(child): shown(Path(f"/proc/{child}/cmdline")) for child in children}
    return [child for child, command in commands.items() if command and TRIAL not in command]


def shown(file: Path) -> str:
    """What a file of /proc says, or nothing if its process or thread has ended meanwhile."""
    with suppress(OSError):
        return file.read_text("utf-8", "replace")
    return ""


def has_ended(process: int) -> bool:
    """Whether it has let go of all it held, such as a lock: its command line is gone before that."""
    _, _, state = shown(Path(f"/proc/{process}/stat")).rpartition(") ")
    return not state or state[0] == "Z"
