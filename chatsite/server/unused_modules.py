"""Stand-ins for modules that Daphne, Twisted and httpx load and this server never uses.

Import it before them.

Patch: `sys.modules`. WebSockets (autobahn, with its cryptography) and Twisted's own TLS (pyOpenSSL) are not
loaded: TLS ends at the proxy in front of this server, and a request to upgrade to a WebSocket is answered
like any other. Nor is httpx's command line, which loads click and rich if they are installed.
Buys: 22 MB of the resident memory of an idle server, which has 88 MB with the stand-ins.
Upstream: not reported.
Can go: when Daphne loads its WebSocket protocol on demand, and Twisted its TLS.
"""

import sys
from types import ModuleType
from typing import Any


class WebSocketFactory:
    """The factory that Daphne's server creates at its start and never uses: see `LimitedRequest.process`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.protocol = None

    def setProtocolOptions(self, **options: Any) -> None:
        """Do nothing."""


def _stand_in() -> ModuleType:
    module = ModuleType("daphne.ws_protocol")
    vars(module)["WebSocketFactory"] = WebSocketFactory
    return module


sys.modules.setdefault("daphne.ws_protocol", _stand_in())
for unused in ("OpenSSL", "httpx._main"):
    sys.modules.setdefault(unused, None)  # type: ignore[arg-type]  # as if it were not installed
