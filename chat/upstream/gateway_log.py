"""What an AI Gateway says of a reply that went through it, in the headers of the answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

LOG_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # a ULID or a UUID; opaque, but it will stand in addresses
LONGEST_MODEL = 200  # characters
MODEL = re.compile(r"[@A-Za-z0-9][A-Za-z0-9@._:/+-]{0,149}")
STEP = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class GatewayLogRef:
    """`gateway` and `log_id` name the entry of its log. `cached`: the reply came from its cache;
    `missed`: it might have. `step`: which of its models answered, 0 for the first; None where none is named.
    `served_by`: the model that a route or a fallback of the gateway chose, with its provider: `openai/gpt-5`.
    """

    gateway: str = ""
    log_id: str = ""
    cached: bool = False
    step: int | None = None
    missed: bool = False
    served_by: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str], answered: Mapping[str, str]) -> Self:
        """From the headers of the request and of its answer; what is not as it should be is left out."""
        gateway = asked.get("cf-aig-gateway-id", "")
        if not gateway:
            return cls()
        log_id, step = answered.get("cf-aig-log-id", ""), answered.get("cf-aig-step", "")
        status = answered.get("cf-aig-cache-status", "").upper()
        return cls(
            gateway,
            log_id if LOG_ID.fullmatch(log_id) else "",
            status == "HIT",
            int(step) if STEP.fullmatch(step) else None,
            status == "MISS",
            _served_by(answered),
        )

    @property
    def cache_status(self) -> str:
        """As the gateway writes it; empty where it said nothing of its cache."""
        return "HIT" if self.cached else "MISS" if self.missed else ""


def _served_by(answered: Mapping[str, str]) -> str:
    """The Auto Router names what it chose in a header of its own."""
    model = answered.get("cf-aig-routed-model", "") or answered.get("cf-aig-model", "")
    provider = answered.get("cf-aig-provider", "")
    if not MODEL.fullmatch(model):
        return ""
    # Workers AI's names begin with @, and those of routers with their provider.
    known = model.startswith(("@", f"{provider}/")) or not MODEL.fullmatch(provider)
    return model if known else f"{provider}/{model}"[:LONGEST_MODEL]


NO_GATEWAY = GatewayLogRef()
