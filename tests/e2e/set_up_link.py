"""The link to the first account, from the log of a server without any."""

import re

from tests.support.server import READY, Server
from tests.support.waiting import until


def set_up_path(server: Server) -> str:
    """Wait for the link, which is logged once the server serves."""
    found = until(lambda: re.search(r"/accounts/setup/\S+\n", server.log.read_text()), READY)
    return found[0].strip()
