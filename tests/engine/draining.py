"""The start of a shutdown."""

import signal

from tests.support.server import Server
from tests.support.waiting import until


def begin_to_stop(server: Server) -> None:
    """Send SIGTERM and wait until the server says that it drains."""
    server.signal(signal.SIGTERM)
    nobody = server.person("")
    until(lambda: nobody.get("/readyz").status_code == 503)
