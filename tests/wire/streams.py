"""Streams for the tests of frames: made from values, and read to their end."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from chat.wire.delta import Delta, joined
from chat.wire.delta_decoder import DeltaDecoder
from chat.wire.usage import Usage

OWN_ID = re.compile(r"call_[0-9a-f]{32}")


@dataclass
class Reply:
    """The result of a whole stream. `more`: the fields passed on; `pieces`: the tool calls, as they came."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    done: bool = True
    usage: Usage | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    refusal: str = ""
    more: dict[str, Any] = field(default_factory=dict)


def read(*chunks: bytes, max_tokens: int = 10**9, **options: Any) -> Reply:
    """Read a body that comes in these chunks. Raises the error in which it ends, after all before it."""
    options = {"inline_reasoning": False, **options}
    decoder = DeltaDecoder(max_tokens=max_tokens, **options)
    deltas = [delta for chunk in (*chunks, None) if (delta := decoder.decode(chunk))]
    if decoder.failure:
        raise decoder.failure
    assert_same_calls(decoder.tool_calls, deltas)
    whole = joined(deltas)
    calls = [call | {"id": OWN_ID.sub("own", call["id"])} for call in decoder.tool_calls]
    return Reply(
        whole.text,
        whole.reasoning,
        decoder.finish_reason,
        decoder.done,
        decoder.usage,
        calls,
        whole.refusal,
        dict(whole.more or {}),
    )


def read_both_ways(stream: bytes, **options: Any) -> Reply:
    """Read a body whole and one byte at a time, with the same result."""
    reply = read(stream, **options)
    assert read(*(stream[at : at + 1] for at in range(len(stream))), **options) == reply
    return reply


def assert_same_calls(calls: list[dict[str, Any]], deltas: Iterable[Delta]) -> None:
    """Check that a client that puts the pieces together, as OpenAI's does, has the same calls."""
    built: dict[int, dict[str, Any]] = {}
    for piece in (piece for delta in deltas for piece in delta.tool_calls):
        if built and piece["index"] not in built:  # it parses a call where the next one begins
            json.loads(built[piece["index"] - 1].get("function", {}).get("arguments", "{}"))
        kind, text = ("custom", "input") if "custom" in piece else ("function", "arguments")
        call = built.setdefault(piece["index"], {kind: {"name": "", text: ""}})
        call |= {name: value for name, value in piece.items() if name not in ("index", kind)}
        for name, value in piece[kind].items():
            call[kind][name] = call[kind].get(name, "") + value
    assert list(built.values()) == calls


def frames(*values: object) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(value).encode() for value in values) + b"data: [DONE]\n\n"


def chunk(content: object = None, **more: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": content, **more}, "finish_reason": None}]}


def ended(reason: object, **delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def message(reason: str = "stop", **fields: object) -> dict[str, object]:
    """Return an unstreamed reply."""
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": reason}
    return {"object": "chat.completion", "choices": [choice]}


def body(value: object) -> bytes:
    return json.dumps(value).encode()
