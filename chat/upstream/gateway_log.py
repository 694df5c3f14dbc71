"""The response headers of an AI Gateway: log entry, cache status and the model that answered."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from chat.limits import MAX_MODEL_CHARS

VALID_LOG_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # a ULID or a UUID; opaque, but it becomes part of URLs
VALID_MODEL = re.compile(r"[@A-Za-z0-9][A-Za-z0-9@._:/+-]{0,149}")
VALID_STEP = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class GatewayLogRef:
    """A reference to a reply's log entry (`gateway`, `log_id`), with the other facts in the headers.

    `cached`: the reply came from the gateway's cache; `missed`: the cache was searched without success.
    `step`: index of the model that answered among those of the gateway, 0 for the first; None if the headers
    name none. `served_by`: the model that a route or a fallback of the gateway chose, with its provider:
    `openai/gpt-5`.
    """

    gateway: str = ""
    log_id: str = ""
    cached: bool = False
    step: int | None = None
    missed: bool = False
    served_by: str = ""

    @classmethod
    def from_headers(cls, request_headers: Mapping[str, str], response_headers: Mapping[str, str]) -> Self:
        """Build the reference from the headers of the request and the response; ignore malformed values."""
        gateway = request_headers.get("cf-aig-gateway-id", "")
        if not gateway:
            return cls()
        log_id, step = response_headers.get("cf-aig-log-id", ""), response_headers.get("cf-aig-step", "")
        status = response_headers.get("cf-aig-cache-status", "").upper()
        return cls(
            gateway,
            log_id if VALID_LOG_ID.fullmatch(log_id) else "",
            status == "HIT",
            int(step) if VALID_STEP.fullmatch(step) else None,
            status == "MISS",
            _served_by(response_headers),
        )

    @property
    def cache_status(self) -> str:
        """The gateway's header value, "HIT" or "MISS"; "" if it did not report a cache status."""
        return "HIT" if self.cached else "MISS" if self.missed else ""


def _served_by(response_headers: Mapping[str, str]) -> str:
    """Return `provider/model`; the Auto Router reports its choice in a separate header.

    "" if no header names a model.
    """
    model = response_headers.get("cf-aig-routed-model", "") or response_headers.get("cf-aig-model", "")
    provider = response_headers.get("cf-aig-provider", "")
    if not VALID_MODEL.fullmatch(model):
        return ""
    # Workers AI's ids begin with "@" and need no provider; ids that a route reports already contain it.
    known = model.startswith(("@", f"{provider}/")) or not VALID_MODEL.fullmatch(provider)
    return model if known else f"{provider}/{model}"[:MAX_MODEL_CHARS]


NO_GATEWAY = GatewayLogRef()
