"""The addition of one frame of a model server to a reply."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Fields of a message and of a frame that are passed on to API clients as they are.
MESSAGE_FIELDS = (
    "annotations", "extra_content", "images", "provider_specific_fields", "reasoning_details",
    "thinking_blocks",
)  # fmt: skip
FRAME_FIELDS = ("citations", "search_results")
_LISTS_OF_PIECES = ("reasoning_details", "thinking_blocks")  # whose entries are sent in pieces
_PIECES = ("text", "summary", "data", "thinking")


@dataclass(slots=True)
class Delta:
    """The addition of one frame to a reply, and its finish reason; "" for none.

    `refusal`: why the model does not answer, which a page shows as text. `tool_calls`: pieces in the shape of
    OpenAI's delta. `more`: fields to pass on to API clients (`MESSAGE_FIELDS`, `FRAME_FIELDS`).
    """

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    refusal: str = ""
    tool_calls: Sequence[dict[str, Any]] = ()
    more: Mapping[str, Any] | None = None

    def __bool__(self) -> bool:
        return bool(self.finish_reason) or self.says_something

    @property
    def says_something(self) -> bool:
        return bool(self.text or self.reasoning or self.refusal or self.tool_calls or self.more)

    @property
    def shown_text(self) -> str:
        return self.text + self.refusal


def merge(total: Delta | None, part: Delta | None) -> Delta | None:
    """Add the delta of a later frame to `total`, and return that."""
    if total is None or part is None:
        return total or part
    total.text += part.text
    total.reasoning += part.reasoning
    total.refusal += part.refusal
    total.finish_reason = part.finish_reason or total.finish_reason
    if part.tool_calls:
        total.tool_calls = [*total.tool_calls, *part.tool_calls]
    if part.more:
        total.more = merged_fields(total.more or {}, part.more)
    return total


def joined(parts: Iterable[Delta]) -> Delta:
    """Return all deltas of a reply as one, in linear time; its tool calls are left out."""
    whole = Delta()
    texts: tuple[list[str], list[str], list[str]] = ([], [], [])
    for part in parts:
        for pieces, piece in zip(texts, (part.text, part.reasoning, part.refusal), strict=True):
            if piece:
                pieces.append(piece)
        if part.more:
            whole.more = merged_fields(whole.more or {}, part.more)
    whole.text, whole.reasoning, whole.refusal = map("".join, texts)
    return whole


def merged_fields(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of several deltas as those of one message: lists go on, other values are replaced."""
    merged = dict(earlier)
    for name, value in later.items():
        if name in MESSAGE_FIELDS and isinstance(value, list) and isinstance(merged.get(name), list):
            merged[name] = [*merged[name]]
            for entry in value:
                if not (name in _LISTS_OF_PIECES and _continues(merged[name][-1], entry)):
                    merged[name].append(entry)
                else:
                    merged[name][-1] = _continued(merged[name][-1], entry)
        elif isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = merged[name] | value
        else:
            merged[name] = value
    return merged


def _continues(entry: Any, following: Any) -> bool:
    """Return True for the next piece of the same entry: OpenRouter wants its details back as a whole."""
    if not (isinstance(entry, dict) and isinstance(following, dict)):
        return False
    return all(entry.get(name) == following.get(name) for name in ("type", "index"))


def _continued(entry: dict[str, Any], following: dict[str, Any]) -> dict[str, Any]:
    whole = entry | {name: value for name, value in following.items() if value is not None}
    for name in _PIECES:
        if isinstance(entry.get(name), str) and isinstance(following.get(name), str):
            whole[name] = entry[name] + following[name]
    return whole
