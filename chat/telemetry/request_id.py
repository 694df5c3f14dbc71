"""The id of the current HTTP request: in the log, on error pages, and in the metadata sent to a gateway."""

import re
import uuid
from contextvars import ContextVar

HEADER = "X-Request-ID"
REQUEST_ID_SCOPE_KEY = "chat.telemetry.request_id"  # of the ASGI scope
VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{8,64}")

request_id: ContextVar[str] = ContextVar("request_id", default="")  # "" outside of a request


def choose(header: str, *, trusted: bool) -> str:
    """Return the id that a trusted proxy sent in X-Request-ID, if it is one; otherwise a new one."""
    return header if trusted and VALID_REQUEST_ID.fullmatch(header) else uuid.uuid4().hex
