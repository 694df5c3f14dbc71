"""Finish reasons of all servers, as OpenAI's."""

import pytest

from chat.wire.frames import FrameError
from tests.wire.streams import body, chunk, ended, frames, message, read, read_both_ways

STOP = (
    "stop STOP eos eos_token EOS_TOKEN end_turn stop_sequence stop-sequence COMPLETE endoftext pause_turn "
    "FINISH_REASON_STOP unheard_of OTHER a\0b " + "x" * 99
)
LENGTH = (
    "length LENGTH max_tokens MAX_TOKENS model_length max_output_tokens model_context_window_exceeded "
    "context_overflow max_length_reached length_limit model_length_exceeded"
)
CONTENT_FILTER = (
    "content_filter content-filter SAFETY RECITATION sensitive refusal PROHIBITED_CONTENT BLOCKLIST "
    "guardrail_intervened guardrails_blocked IMAGE_SAFETY MODEL_ARMOR"
)
ERRORS = (
    "error ERROR abort aborted cancelled CANCELED insufficient_system_resource network_error timeout "
    "timeout_error overloaded "
    "MALFORMED_FUNCTION_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE "
    "malformed_model_output malformed_tool_use model_unloaded model_error exception"
)
NONE = [None, "", "null", "none", "FINISH_REASON_UNSPECIFIED", 7, [], {}]
MAPPED = [
    *((name, "stop") for name in STOP.split()),
    *((name, "length") for name in LENGTH.split()),
    *((name, "content_filter") for name in CONTENT_FILTER.split()),
    *(
        (name, "tool_calls")
        for name in ["tool_calls", "tool-calls", "tool_use", "function_call", "TOOL_CALL"]
    ),
    ("content_filter: SAFETY", "content_filter"),
    ("content_filter: OTHER", "content_filter"),
    ("content_filter: IMAGE_RECITATION", "content_filter"),
    ("a: b", "stop"),
    ("maxPredictedTokensReached", "length"),
    ("contextLengthReached", "length"),
    ("time_limit", "length"),
    ("eosFound", "stop"),
    ("flagged", "content_filter"),
    ("content_moderation", "content_filter"),
    *((value, "") for value in NONE),
    ({"type": "length", "length": 16}, "length"),
    ({"type": "stop", "matched": 2}, "stop"),
]


@pytest.mark.parametrize(("sent", "reason"), MAPPED)
def test_a_reason_is_one_of_openais(sent, reason):
    assert read_both_ways(frames(chunk("Hi"), ended(sent))).finish_reason == reason
    assert read(frames(ended(sent, content="Hi"))).finish_reason == reason
    assert read(frames({"response": "Hi"}, {"finish_reason": sent})).finish_reason == reason
    if isinstance(sent, str):
        assert read(body(message(sent, content="Hi"))).finish_reason == reason


def test_a_reason_may_have_the_name_that_gemini_gives_it():
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": None, "finishReason": "MAX_TOKENS"}]}
    assert read(frames(chunk("Hi"), last)).finish_reason == "length"


def test_of_a_pair_the_second_word_counts_first():
    with pytest.raises(FrameError) as caught:
        read(frames(ended("function_call_filter: MALFORMED_FUNCTION_CALL")))
    assert caught.value.reason == "malformed_function_call"


@pytest.mark.parametrize("sent", ERRORS.split())
def test_a_reply_that_the_server_calls_failed_is_an_error(sent):
    for stream in (frames(chunk("Hi"), ended(sent)), frames(ended(sent)), body(message(sent, content="Hi"))):
        with pytest.raises(FrameError) as caught:
            read(stream)
        assert caught.value.reason == sent.lower()


def test_an_error_beside_such_a_reason_says_more():
    with pytest.raises(FrameError) as caught:
        read(frames({**ended("error"), "error": {"message": "out of memory"}}))
    assert "out of memory" in str(caught.value.payload)


@pytest.mark.parametrize(
    ("reason", "arguments", "used", "expected"),
    [
        ("tool_calls", '{"a": "b', 100, "length"),
        ("tool_calls", '{"a": "b', 99, "tool_calls"),
        ("tool_calls", '{"a": "b"}', 100, "tool_calls"),
        ("length", '{"a": "b', 50, "length"),
        (None, '{"a": "b"}', 100, "length"),
        (None, '{"a": "b', 50, "length"),
        (None, '{"a": "b"}', 50, ""),
    ],
)
def test_a_tool_call_is_cut_where_its_tokens_are_used_up(reason, arguments, used, expected):
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}
    usage = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": used}}
    stream = frames(chunk(tool_calls=[call]), ended(reason), usage)
    assert read_both_ways(stream, max_tokens=100).finish_reason == expected
