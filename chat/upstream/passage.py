"""What an AI Gateway says of a reply that went through it, in the headers of the answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

LOG_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # a ULID or a UUID; opaque, but it will stand in addresses
STEP = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class Passage:
    """`gateway` and `log_id` name the entry of its log. `cached`: the reply came from its cache. `step`:
    which of its models answered, 0 for the first; None where none is named.
    """

    gateway: str = ""
    log_id: str = ""
    cached: bool = False
    step: int | None = None

    @classmethod
    def of(cls, asked: Mapping[str, str], answered: Mapping[str, str]) -> Self:
        """From the headers of the request and of its answer; what is not as it should be is left out."""
        gateway = asked.get("cf-aig-gateway-id", "")
        if not gateway:
            return cls()
        log_id, step = answered.get("cf-aig-log-id", ""), answered.get("cf-aig-step", "")
        return cls(
            gateway,
            log_id if LOG_ID.fullmatch(log_id) else "",
            answered.get("cf-aig-cache-status", "").upper() == "HIT",
            int(step) if STEP.fullmatch(step) else None,
        )


NOWHERE = Passage()
