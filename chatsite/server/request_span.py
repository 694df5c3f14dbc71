"""The span of an HTTP request, if traces are on."""

from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.urls import reverse

from chat.telemetry import tracing

if TYPE_CHECKING:
    from chat.telemetry.tracing.spans import RequestSpan

UNTRACED = ("chat:healthz", "chat:readyz", "chat:metrics")  # many, and of interest to nobody, as static files


def begin_span(request: Any) -> "RequestSpan | None":
    """Begin the span of a request of Twisted's whose headers have arrived.

    The caller's `traceparent` counts only behind a proxy of the site's own: anybody else could put requests
    into a trace of others, or have every request sampled.
    """
    method, target = request.request_line
    if tracing.tracer is None or target.startswith(_untraced()):
        return None
    traceparent = b""
    if settings.TRUSTED_PROXY:
        traceparent = request.requestHeaders.getRawHeaders(b"traceparent", [b""])[0]
    return tracing.tracer.begin_request(
        method.decode("ascii", "replace"),
        settings.SITE.scheme,
        request.request_id,
        traceparent.decode("latin-1"),
    )


@cache
def _untraced() -> tuple[bytes, ...]:
    return (*(reverse(name).encode() for name in UNTRACED), settings.STATIC_URL.encode())
