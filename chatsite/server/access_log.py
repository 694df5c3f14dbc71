"""The access log (`ACCESS_LOG`): one entry per request, without its query string, body, cookies or user."""

import logging
from functools import cache
from ipaddress import ip_address
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse

from chat.accounts.proxies import forwarded_for, without_port

PROBES = ("chat:healthz", "chat:readyz")  # logged at DEBUG: monitoring asks for them every few seconds

logger = logging.getLogger("chat.access")


class AccessEntry(NamedTuple):
    """The fields that are known at the beginning of a response."""

    client: str | None
    method: str
    path: str
    request_id: str
    call_id: str  # that a call of the API has of its own, which the administration lists; otherwise ""

    @classmethod
    def of(cls, request: Any) -> "AccessEntry | None":
        """Return the fields of a request of Twisted's; None if no log is written."""
        if not settings.ACCESS_LOG:
            return None
        method, target = request.request_line
        path = target.split(b"?", 1)[0].decode("ascii", "backslashreplace")
        header = _header(request.responseHeaders, "X-Request-Id")
        call_id = header if header != request.request_id else ""
        return cls(_client(request), method.decode("ascii", "replace"), path, request.request_id, call_id)

    def log(self, status: int | None, sent: int, seconds: float) -> None:
        """Log the request, which has ended.

        `status` is None if the client left before the response began. `sent` counts the bytes of the
        response's body that were written, `seconds` the time from the request's first line to the response's
        last byte.
        """
        fields: dict[str, Any] = {
            "client": self.client,
            "method": self.method,
            "path": self.path,
            "status": status,
            "bytes": sent,
            "seconds": round(seconds, 4),
            "request_id": self.request_id,
        }
        if self.call_id:
            fields["call_id"] = self.call_id
        level = logging.DEBUG if self.path in _probes() else logging.INFO
        logger.log(level, "%s %s %s", self.method, self.path, status or "-", extra={"fields": fields})


@cache
def _probes() -> frozenset[str]:
    return frozenset(map(reverse, PROBES))


def _client(request: Any) -> str | None:
    """Return the client's address, as the outermost of the site's own proxies saw it if there are any."""
    forwarded = forwarded_for(_header(request.requestHeaders, "X-Forwarded-For"), settings.TRUSTED_PROXY)
    for text in (without_port(forwarded), getattr(request.client, "host", "")):
        try:
            return str(ip_address(text))
        except ValueError:
            continue
    return None  # a Unix socket


def _header(headers: Any, name: str) -> str:
    return ",".join(value.decode("latin-1") for value in headers.getRawHeaders(name.encode(), []))
