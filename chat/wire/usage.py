"""The token usage of a reply, from frames that count in three different ways and under many names.

Workers AI puts the increment of each chunk on that chunk and the total on a last frame without `choices`;
older models put the running total on every chunk; a stream that breaks off has no total at all. Frames with
zero counts follow the total, so the last count must not simply win.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

MAX_DIGITS = 16  # of a count
# The names of each count, OpenAI's first.
_PROMPT = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count", "inputTokens")
_COMPLETION = ("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count", "outputTokens")
_CACHED = (
    "prompt_cache_hit_tokens", "cache_read_input_tokens", "cachedContentTokenCount", "cached_tokens",
    "cacheReadInputTokens",
)  # fmt: skip
_WRITTEN = ("cache_creation_input_tokens", "cacheWriteInputTokens")  # into the cache
_TOTAL = ("total_tokens", "totalTokenCount", "totalTokens")
_REASONING = ("reasoning_tokens", "thoughtsTokenCount")
_PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_COMPLETION_DETAILS = ("completion_tokens_details", "output_tokens_details")


@dataclass(slots=True, frozen=True)
class Usage:
    """The tokens of one reply. Cloudflare bills `neurons`.

    `cached_tokens` are part of `prompt_tokens`, `reasoning_tokens` of `completion_tokens`. `is_estimated`:
    the server did not count them.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    neurons: float = 0.0
    reasoning_tokens: int = 0
    is_estimated: bool = False

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def as_dict(self) -> dict[str, int | float]:
        """Return the counts that are stored."""
        counts = asdict(self) | {"total_tokens": self.total_tokens}
        del counts["reasoning_tokens"], counts["is_estimated"]
        return counts


def total_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """Return the sum of two requests' usage; None if neither is known."""
    if one is None or other is None:
        return one or other
    return Usage(
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        one.cached_tokens + other.cached_tokens,
        one.neurons + other.neurons,
        one.reasoning_tokens + other.reasoning_tokens,
        one.is_estimated or other.is_estimated,
    )


class UsageAccumulator:
    """The sum of the `usage` objects of one reply."""

    def __init__(self) -> None:
        self._total = Usage()
        self._largest = Usage()
        self._is_running_total = False
        self._prompt = self._completion = self._cached = self._thought = 0
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
        if raw.get("prompt_tokens") or "completion_tokens" not in raw:
            usage = _read(raw)
            largest = self._largest
            self._is_running_total = (
                self._is_running_total or largest.prompt_tokens == usage.prompt_tokens > 0
            )
            self._largest = max(largest, usage, key=lambda each: each.total_tokens)
            self._prompt += usage.prompt_tokens
            self._cached += usage.cached_tokens
            self._completion += usage.completion_tokens
            self._thought += usage.reasoning_tokens
            self._neurons += usage.neurons
            return
        # Without creating a Usage, because this runs once per token and most chunks have no other counts.
        self._completion += int(_number(raw["completion_tokens"]))
        self._neurons += _number(raw.get("neurons"))

    def usage(self) -> Usage | None:
        """Return the total if a frame had one, else the count of the chunks; None if nothing was counted."""
        if self._total != Usage():
            return self._total
        if self._is_running_total:
            return self._largest
        counted = Usage(self._prompt, self._completion, self._cached, self._neurons, self._thought)
        return counted if counted != Usage() else None


def usage_in(frame: Mapping[str, Any], choice: Mapping[str, Any]) -> Any:
    """Return the usage of a frame without the field `usage`; None if it has none.

    Gemini calls it `usageMetadata`, Moonshot puts it into the choice, Groq into an object of its own, and
    Ollama has the counts beside the text.
    """
    for holder, name in ((frame, "usageMetadata"), (frame, "usage_metadata"), (choice, "usage")):
        if isinstance(usage := holder.get(name), dict):
            return usage
    if isinstance(groq := frame.get("x_groq"), dict):
        return groq.get("usage")
    return frame if "eval_count" in frame or "prompt_eval_count" in frame else None


def _read(raw: object) -> Usage:
    if not isinstance(raw, dict):
        return Usage()
    prompt, completion = _first(raw, _PROMPT), _first(raw, _COMPLETION)
    cached = _first(raw, _CACHED) or _detail(raw, _PROMPT_DETAILS, "cached_tokens")
    thought = _first(raw, _REASONING) or _detail(raw, _COMPLETION_DETAILS, "reasoning_tokens")
    in_cache, total = cached + _first(raw, _WRITTEN), _first(raw, _TOTAL)
    if "cache_read_input_tokens" in raw and "prompt_tokens" not in raw:  # Anthropic counts them apart
        prompt += in_cache
    if "thoughtsTokenCount" in raw or thought > completion:  # so do Gemini and Perplexity the reasoning
        completion += thought
    # What the total has beyond the parts was in the cache, or is reasoning that nobody names.
    beyond = max(0, total - prompt - completion)
    if not prompt or (in_cache and in_cache == beyond):
        prompt += beyond
    else:
        completion += beyond
    return Usage(prompt, completion, cached, _number(raw.get("neurons")), thought)


def _first(raw: Mapping[str, Any], names: Iterable[str]) -> int:
    return next((int(count) for name in names if (count := _number(raw.get(name)))), 0)


def _detail(raw: Mapping[str, Any], holders: Iterable[str], name: str) -> int:
    return max(
        (_first(raw[holder], [name]) for holder in holders if isinstance(raw.get(holder), dict)), default=0
    )


def _number(value: Any) -> float:
    """Return a count or a price; 0 for anything that is not a finite, non-negative number.

    Some servers write it as text.
    """
    if isinstance(value, str) and value.isdecimal() and len(value) < MAX_DIGITS:
        return int(value)
    if (type(value) is int or type(value) is float) and 0 <= value < math.inf:
        return value
    return 0
