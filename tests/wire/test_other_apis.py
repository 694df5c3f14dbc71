"""Streams of OpenAI's Responses API and Anthropic's Messages API, from servers that were asked for chunks."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from chat.wire.delta_decoder import DeltaDecoder
from chat.wire.frames import FrameError
from chat.wire.usage import Usage
from tests.wire.streams import Reply, body, chunk, ended, frames, read, read_both_ways

CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
DONE = b"data: [DONE]\n\n"
ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": None,
        "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "Eq"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hi "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "you"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": {
        "type": "tool_use", "id": "call_1", "name": "weather", "input": {}}},
    {"type": "content_block_delta", "index": 2, "delta": {
        "type": "input_json_delta", "partial_json": '{"city": '}},
    {"type": "content_block_delta", "index": 2, "delta": {
        "type": "input_json_delta", "partial_json": '"Oslo"}'}},
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 15}},
    {"type": "message_stop"},
]  # fmt: skip
USAGE = {
    "input_tokens": 25, "input_tokens_details": {"cached_tokens": 5}, "output_tokens": 15, "total_tokens": 40
}  # fmt: skip
OUTPUT = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "message", "content": [{"type": "output_text", "text": "Hi you", "annotations": []}]},
    {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city": "Oslo"}'},
]
RESPONSE = {"object": "response", "id": "resp_1", "status": "completed", "error": None, "usage": USAGE}
RESPONSES: list[dict[str, Any]] = [
    {"type": "response.created", "response": RESPONSE | {"status": "in_progress", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "summary": []}},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."},
    {"type": "response.reasoning_summary_text.done", "output_index": 0, "text": "Hm."},
    {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Hi ", "logprobs": []},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "you"},
    {"type": "response.output_text.done", "output_index": 1, "text": "Hi you"},
    {"type": "response.output_item.added", "output_index": 2, "item": {
        "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"city": '},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '"Oslo"}'},
    {"type": "response.output_item.done", "output_index": 2, "item": OUTPUT[2]},
    {"type": "response.completed", "response": RESPONSE | {"output": OUTPUT}},
]  # fmt: skip
MESSAGE = {
    "type": "message", "role": "assistant", "stop_reason": "tool_use",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "Eq"},
        {"type": "text", "text": "Hi you"},
        {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Oslo"}},
    ],
    "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 15},
}  # fmt: skip


def reply(reason: str) -> Reply:
    return Reply("Hi you", "Hm.", reason, usage=Usage(25, 15, 5), tool_calls=[CALL])


def named(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"event: %s\ndata: %s\n\n" % (each["type"].encode(), body(each)) for each in events)


@pytest.mark.parametrize(
    ("events", "reason"), [(ANTHROPIC, "tool_calls"), (RESPONSES, "stop")], ids=["messages", "responses"]
)
def test_events_are_read_with_and_without_their_names(events: list[dict[str, Any]], reason: str) -> None:
    for stream in (frames(*events), named(events) + DONE):
        assert read_both_ways(stream) == reply(reason)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (MESSAGE, "tool_calls"),
        (RESPONSE | {"output": OUTPUT}, "stop"),
        ({"type": "response.completed", "response": RESPONSE | {"output": OUTPUT}}, "stop"),
    ],
    ids=["messages", "responses", "only the end"],
)
def test_a_whole_reply_is_read(sent: dict[str, Any], reason: str) -> None:
    assert read_both_ways(body(sent)) == reply(reason)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([RESPONSES[5], {"type": "response.incomplete", "response": RESPONSE | {
            "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}],
         Reply("Hi ", "", "length", usage=Usage(25, 15, 5))),
        ([{"type": "response.refusal.delta", "delta": "No."}, RESPONSES[-1]],
         Reply("", "", "stop", refusal="No.", usage=Usage(25, 15, 5))),
        ([{"type": "response.reasoning_text.delta", "delta": "Hm."}, RESPONSES[5]], Reply("Hi ", "Hm.")),
        ([ANTHROPIC[7], {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}],
         Reply("Hi ", "", "length")),
    ],
)  # fmt: skip
def test_other_ends(events: list[dict[str, Any]], expected: Reply) -> None:
    assert read_both_ways(frames(*events)) == expected


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": None},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"type": "response.failed", "response": RESPONSE | {
            "status": "failed", "error": {"code": "rate_limit_exceeded", "message": "slow down"}}},
    ],
)  # fmt: skip
def test_an_error_is_raised(event: dict[str, Any]) -> None:
    for stream in (frames(event), named([event])):
        with pytest.raises(FrameError) as caught:
            read(stream)
        assert "message" in json.dumps(caught.value.payload)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.audio.delta", "delta": "UklGRg=="},
        {"type": "response.output_text.delta", "delta": {"text": "no"}},
        {"type": "response.created", "response": RESPONSE},
        {"type": "content_block_delta", "delta": "x"},
        {"type": "message_start", "message": None},
        {"type": "message_stop"},
    ],
)
def test_an_event_that_says_nothing_counts_as_no_frame(event: dict[str, Any]) -> None:
    for stream in (frames(event), named([event])):
        decoder = DeltaDecoder(inline_reasoning=False, max_tokens=9)
        assert (decoder.decode(stream), decoder.decode(None)) == (None, None)
        assert (decoder.failure, decoder.is_empty) == (None, True)
        assert decoder.skipped > 0


def spoilt(value: Any) -> Iterator[Any]:
    """The value with each of its parts in turn replaced by one of another type."""
    yield from (None, 7, "x", [], {}, [7])
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        for other in spoilt(inner):
            copy = value.copy()
            copy[key] = other
            yield copy


@pytest.mark.parametrize("event", [*ANTHROPIC, *RESPONSES, MESSAGE])
def test_no_part_of_another_type_breaks_the_reader(event: dict[str, Any]) -> None:
    for other in spoilt(event):
        with suppress(FrameError):
            read(frames(other))


def test_a_type_beside_chunks_changes_nothing() -> None:
    typed = {"type": "response.output_text.delta", "delta": "no"}
    assert read(frames(chunk("Hi") | typed, ended("stop"))).text == "Hi"
    assert read(frames({"response": "Hi", "type": "message"})).text == "Hi"


def test_arguments_may_come_with_the_last_events_only() -> None:
    item = {"type": "function_call", "call_id": "call_1", "name": "weather"}
    events: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"},
        {"type": "response.output_item.added", "output_index": 1, "item": {**item, "arguments": ""}},
        {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": '{"city": "Oslo"}'},
        {
            "type": "response.output_item.done",
            "output_index": 1,
            "item": {**item, "arguments": '{"city": "Oslo"}'},
        },
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]
    (found,) = read_both_ways(frames(*events)).tool_calls
    assert found["function"] == {"name": "weather", "arguments": '{"city": "Oslo"}'}
