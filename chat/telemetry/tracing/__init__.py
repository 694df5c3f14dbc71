"""Traces by OpenTelemetry, an extra: what is traced, and whether.

`tracer` is None until a server starts it, so without it a request costs one comparison. `spans` and `start`
load the extra's packages, 14 MB; only a server whose traces are on imports them.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chat.telemetry.tracing.spans import Context, Tracer

SPAN_SCOPE_KEY = "chat.span"  # of the ASGI scope: the span of the request

tracer: "Tracer | None" = None
context: ContextVar["Context | None"] = ContextVar("trace_context", default=None)  # of the current request
