"""Streams for the tests of frames: made from values, and read to their end."""

import json
from dataclasses import dataclass, field
from typing import Any

from chat.wire.frames import Delta, FrameReader, Usage
from chat.wire.sse import Decoder


@dataclass
class Reply:
    """The result of a whole stream."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    done: bool = True
    usage: Usage | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


def read(*chunks: bytes, **options: bool) -> Reply:
    decoder, reader = Decoder(), FrameReader(**options)
    events = [event for chunk in chunks for event in decoder.feed(chunk)] + decoder.close()
    deltas = [delta for event in events if (delta := reader.read(event))]
    deltas.append(reader.flush() or Delta())
    reasons = [delta.finish_reason for delta in deltas if delta.finish_reason]
    assert reader.finish_reason == (reasons[-1] if reasons else "")
    text = "".join(delta.text for delta in deltas)
    reasoning = "".join(delta.reasoning for delta in deltas)
    return Reply(text, reasoning, reader.finish_reason, reader.done, reader.usage, reader.tool_calls)


def frames(*values: object) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(value).encode() for value in values) + b"data: [DONE]\n\n"


def chunk(content: object = None, **more: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": content, **more}, "finish_reason": None}]}
