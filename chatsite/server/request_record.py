"""The record of a request: an entry of the access log (`ACCESS_LOG`), and a span if traces are on.

The entry has no query string, body, cookies or user.
"""

import logging
import time
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.urls import reverse

from chat.accounts.proxies import forwarded_for, id_of_request, without_port
from chat.telemetry import request_id, tracing

if TYPE_CHECKING:
    from chat.telemetry.tracing.spans import RequestSpan

PROBES = ("chat:healthz", "chat:readyz")  # logged at DEBUG: monitoring asks for them every few seconds
UNTRACED = (*PROBES, "chat:metrics")  # of interest to nobody, as static files

logger = logging.getLogger("chat.access")


class RequestRecord:
    """A request of Twisted's whose headers have arrived."""

    __slots__ = ("_client", "_method", "_path", "began_at", "call_id", "id", "span")

    def __init__(self, request: Any, method: bytes, target: bytes, began_at: float) -> None:
        self.id = id_of_request(_header(request, request_id.HEADER))
        self.call_id = ""  # that a call of the API has of its own, which the administration lists
        self.began_at = began_at
        self._method = method.decode("ascii", "replace")
        self._path = target.split(b"?", 1)[0].decode("ascii", "backslashreplace")
        self._client = _client(request) if settings.ACCESS_LOG else None
        self.span = self._begin_span(request, target) if tracing.tracer else None

    def _begin_span(self, request: Any, target: bytes) -> "RequestSpan | None":
        """Begin the span of the request.

        The caller's `traceparent` counts only behind a proxy of the site's own: anybody else could put
        requests into a trace of others, or have every request sampled.
        """
        if tracing.tracer is None or target.startswith(_untraced()):
            return None
        traceparent = _header(request, "traceparent") if settings.TRUSTED_PROXY else ""
        return tracing.tracer.begin_request(self._method, settings.SITE.scheme, self.id, traceparent)

    def end(self, status: int | None, sent: int) -> None:
        """Record the request, which has ended.

        `status` is None if the client left before the response began. `sent` counts the bytes of the
        response's body that were written.
        """
        if settings.ACCESS_LOG:
            fields: dict[str, Any] = {
                "client": self._client,
                "method": self._method,
                "path": self._path,
                "status": status,
                "bytes": sent,
                "seconds": round(time.monotonic() - self.began_at, 4),
                "request_id": self.id,
            }
            if self.call_id:
                fields["call_id"] = self.call_id
            level = logging.DEBUG if self._path in _probes() else logging.INFO
            logger.log(level, "%s %s %s", self._method, self._path, status or "-", extra={"fields": fields})
        if self.span:
            self.span.end(status)


@cache
def _probes() -> frozenset[str]:
    return frozenset(map(reverse, PROBES))


@cache
def _untraced() -> tuple[bytes, ...]:
    return (*(reverse(name).encode() for name in UNTRACED), settings.STATIC_URL.encode())


def _client(request: Any) -> str | None:
    """Return the client's address, as the outermost of the site's own proxies saw it if there are any."""
    forwarded = forwarded_for(_header(request, "X-Forwarded-For"), settings.TRUSTED_PROXY)
    for text in (without_port(forwarded), getattr(request.client, "host", "")):
        try:
            return str(ip_address(text))
        except ValueError:
            continue
    return None  # a Unix socket


def _header(request: Any, name: str) -> str:
    values = request.requestHeaders.getRawHeaders(name.encode(), [])
    return ",".join(value.decode("latin-1") for value in values)
