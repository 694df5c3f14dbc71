"""Keeps out of memory what Daphne and Twisted load and this server never uses. Import it before them.

WebSockets (autobahn, with its cryptography) and Twisted's own TLS (pyOpenSSL) take 18 MB. TLS ends at the
proxy in front of this server, and a request to become a WebSocket is answered like any other.
"""

import sys
from types import ModuleType
from typing import Any


class WebSocketFactory:
    """What Daphne's server makes at its start, and never uses: see `LimitedRequest.process`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.protocol = None

    def setProtocolOptions(self, **options: Any) -> None:
        """There is nothing to set."""


def _stand_in() -> ModuleType:
    module = ModuleType("daphne.ws_protocol")
    vars(module)["WebSocketFactory"] = WebSocketFactory
    return module


sys.modules.setdefault("daphne.ws_protocol", _stand_in())
sys.modules.setdefault("OpenSSL", None)  # type: ignore[arg-type]  # an import of it fails, as if it were not installed
