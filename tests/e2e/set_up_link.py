"""Where a server without an account tells how to make the first one."""

import re

from tests.support.server import READY, Server
from tests.support.waiting import until


def set_up_path(server: Server) -> str:
    """It is said once the server serves, not before."""
    found = until(lambda: re.search(r"/accounts/setup/\S+\n", server.log.read_text()), READY)
    return found[0].strip()
