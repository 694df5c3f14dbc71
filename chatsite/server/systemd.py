"""The listening socket that systemd passes to a service with a socket unit, see sd_listen_fds(3).

Import it before Twisted, which removes the variables from the environment when it is imported.
"""

import os

VARIABLES = {name: os.environ[name] for name in ("LISTEN_PID", "LISTEN_FDS") if name in os.environ}
FIRST_DESCRIPTOR = 3


def listening_socket() -> int | None:
    """Return the descriptor of the socket, if systemd passed one to this process."""
    passed = VARIABLES.get("LISTEN_PID") == str(os.getpid()) and VARIABLES.get("LISTEN_FDS", "0") != "0"
    return FIRST_DESCRIPTOR if passed else None
