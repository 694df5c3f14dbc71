"""The access log (`ACCESS_LOG`): one entry per request, without its query string, body, cookies or user."""

import logging
from ipaddress import ip_address
from typing import Any

from django.conf import settings

from chatsite.proxies import forwarded_for, without_port

PROBES = (b"/healthz", b"/readyz")  # logged at DEBUG: monitoring asks for them every few seconds

logger = logging.getLogger("chat.access")


def log_request(request: Any, status: int | None, seconds: float) -> None:
    """Log a request of Twisted's that has ended.

    `status` is None if the client left before the response began. `bytes` counts those of the response's body
    that were written, `seconds` the time from the request's first line to the response's last byte.
    """
    if not settings.ACCESS_LOG:
        return
    method, target = request.request_line
    path = target.split(b"?", 1)[0]
    fields: dict[str, Any] = {
        "client": _client(request),
        "method": method.decode("ascii", "replace"),
        "path": path.decode("ascii", "backslashreplace"),
        "status": status,
        "bytes": request.sentLength,
        "seconds": round(seconds, 4),
        "request_id": request.request_id,
    }
    told = _header(request.responseHeaders, "X-Request-Id")
    if told and told != request.request_id:
        fields["call_id"] = told  # a call of the API has an id of its own, which the administration lists
    level = logging.DEBUG if path in PROBES else logging.INFO
    logger.log(level, "%s %s %s", fields["method"], fields["path"], status or "-", extra={"fields": fields})


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
