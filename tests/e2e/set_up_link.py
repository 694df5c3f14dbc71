"""Where a server without an account tells how to make the first one."""

import re
import time

from tests.server import READY, Server


def set_up_path(server: Server) -> str:
    """It is said once the server serves, not before."""
    deadline = time.monotonic() + READY
    while not (found := re.search(r"/accounts/setup/\S+\n", server.log.read_text())):
        assert time.monotonic() < deadline, "the server does not tell"
        time.sleep(0.05)
    return found[0].strip()
