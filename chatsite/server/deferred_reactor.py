"""A stand-in for `daphne.server` in a process that only forks workers.

Call `defer` before Django's set-up. Importing `daphne.server` installs Twisted's reactor with an event loop,
and two processes must not share the descriptors of one loop. So the Django application `daphne` gets an empty
module, and each worker imports the real one after its fork.

Patch: `sys.modules`.
Buys: the workers share the memory of all that is imported before the fork, see `chatsite.server.worker_pool`.
Upstream: not reported.
Can go: when Daphne installs the reactor with its server instead of with its Django application.
"""

import sys
from types import ModuleType

DEFERRED = "daphne.server"


def defer() -> None:
    """Put the stand-in in place."""
    sys.modules.setdefault(DEFERRED, ModuleType(DEFERRED))


def restore() -> None:
    """Let the next import of `daphne.server` load the real module. To be called in the forked worker."""
    del sys.modules[DEFERRED]
