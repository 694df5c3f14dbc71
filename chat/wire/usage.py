"""The token usage of a reply, from frames that count in three different ways.

Workers AI puts the increment of each chunk on that chunk and the total on a last frame without `choices`;
older models put the running total on every chunk; a stream that breaks off has no total at all. Frames with
zero counts follow the total, so the last count must not simply win.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True, frozen=True)
class Usage:
    """The tokens of one reply. `cached_tokens` are part of `prompt_tokens`; Cloudflare bills `neurons`."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    neurons: float = 0.0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def as_dict(self) -> dict[str, int | float]:
        return asdict(self) | {"total_tokens": self.total_tokens}


class UsageAccumulator:
    """The sum of the `usage` objects of one reply."""

    def __init__(self) -> None:
        self._total = Usage()
        self._largest = Usage()
        self._is_running_total = False
        self._prompt = self._completion = self._cached = 0
        self._neurons = 0.0

    def add_total(self, raw: object) -> None:
        """Record the usage of the whole reply; of several, the largest counts."""
        usage = _read(raw)
        if usage.total_tokens >= self._total.total_tokens:
            self._total = usage

    def add_chunk(self, raw: object) -> None:
        """Add the usage of a chunk: an increment, or a running total if it repeats the same prompt tokens."""
        if not isinstance(raw, dict):
            return
        if raw.get("prompt_tokens"):
            usage = _read(raw)
            largest = self._largest
            self._is_running_total = (
                self._is_running_total or largest.prompt_tokens == usage.prompt_tokens > 0
            )
            self._largest = max(largest, usage, key=lambda each: each.total_tokens)
            self._prompt += usage.prompt_tokens
            self._cached += usage.cached_tokens
        # Without creating a Usage, because this runs once per token and most chunks have no other counts.
        self._completion += int(_number(raw.get("completion_tokens")))
        self._neurons += _number(raw.get("neurons"))

    def usage(self) -> Usage | None:
        """Return the total if a frame had one, else the count of the chunks; None if nothing was counted."""
        if self._total != Usage():
            return self._total
        if self._is_running_total:
            return self._largest
        counted = Usage(self._prompt, self._completion, self._cached, self._neurons)
        return counted if counted != Usage() else None


def _read(raw: object) -> Usage:
    if not isinstance(raw, dict):
        return Usage()
    details = raw.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=int(_number(raw.get("prompt_tokens"))),
        completion_tokens=int(_number(raw.get("completion_tokens"))),
        cached_tokens=int(_number(details.get("cached_tokens"))) if isinstance(details, dict) else 0,
        neurons=_number(raw.get("neurons")),
    )


def _number(value: Any) -> float:
    """Return a count or a price; 0 for anything that is not a finite, non-negative number."""
    if (type(value) is int or type(value) is float) and 0 <= value < math.inf:
        return value
    return 0
