"""The id of the current HTTP request: in the log, on error pages, and in the metadata sent to a gateway."""

from contextvars import ContextVar

HEADER = "X-Request-ID"
REQUEST_ID_SCOPE_KEY = "chat.telemetry.request_id"  # of the ASGI scope

request_id: ContextVar[str] = ContextVar("request_id", default="")  # "" outside of a request
