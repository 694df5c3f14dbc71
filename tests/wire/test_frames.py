"""Frames of every shape, each stream read whole, byte by byte, and cut at every point."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.wire.frames import Delta, FrameError, FrameReader, Usage
from chat.wire.sse import Event
from tests.wire.streams import Reply, chunk, frames, read

CONVERSATIONS = Path(__file__).parent / "conversations"
CHOICE_KEYS = ["choices", "index", "delta", "message", "text", "finish_reason"]
SAID_KEYS = ["content", "response", "reasoning", "tool_calls", "function", "arguments", "name", "id"]
OTHER_KEYS = ["usage", "prompt_tokens", "prompt_tokens_details", "result", "streamed_data"]
KEYS = CHOICE_KEYS + SAID_KEYS + OTHER_KEYS


RECORDED = {
    "native": Reply("Hello! I am here.", usage=Usage(10, 50)),
    "catalog": Reply("أهلا 👋", finish_reason="stop", usage=Usage(147, 16, 64, 1.7727271914482117)),
    "counting_up": Reply("Yes.", "Okay, the", "stop", usage=Usage(13, 1022)),
    "reasoning": Reply("👍", "We count to 0😀", "length"),
    "tool_call": Reply(
        finish_reason="tool_calls",
        usage=Usage(172, 19, 64),
        tool_calls=[
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "set_heading", "arguments": '{"block": "b_hero"}'},
            }
        ],
    ),
    "unquoted": Reply('[^1] 0true2.5false{"a": ["é", null]}'),
    "both_shapes": Reply("One two three", "Hm.", "stop"),
    "odd": Reply("a raw line\u2028separator, a tab\t, half \ufffd, done.", finish_reason="stop"),
    "no_end": Reply("A last event", done=False),
    "cut": Reply("It was ", done=False),
}


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(("name", "reply"), RECORDED.items(), ids=RECORDED.keys())
class TestEveryRecordedStream:
    def test_whole(self, name, reply, line_end):
        assert read(self.raw(name, line_end)) == reply

    def test_byte_by_byte(self, name, reply, line_end):
        raw = self.raw(name, line_end)
        assert read(*(raw[i : i + 1] for i in range(len(raw)))) == reply

    def test_cut_at_every_point(self, name, reply, line_end):
        raw = self.raw(name, line_end)
        for cut in range(len(raw) + 1):
            assert read(raw[:cut], raw[cut:]) == reply

    @staticmethod
    def raw(name: str, line_end: bytes) -> bytes:
        return (CONVERSATIONS / f"{name}.txt").read_bytes().replace(b"\n", line_end)


def test_a_cut_stream_yields_a_prefix_and_no_error():
    raw = (CONVERSATIONS / "catalog.txt").read_bytes()
    whole = read(raw).text
    for cut in range(len(raw)):
        assert whole.startswith(read(raw[:cut]).text)


class TestErrorsInTheStream:
    @pytest.mark.parametrize(
        "payload",
        [
            {"errors": [{"code": 3040, "message": "Capacity exceeded"}]},
            {"error": "out of memory"},
            {"error": {"code": "invalid_prompt", "message": "no"}, "choices": []},
            {"success": False, "errors": [], "result": {}},
            {"name": "AiError", "internalCode": 5021, "httpCode": 413, "message": "too long"},
            {"success": False, "result": [], "error": [{"code": 2009, "message": "Unauthorized"}]},
            [{"code": 2003, "message": "Too many requests"}],
        ],
    )
    def test_are_raised_with_what_was_said(self, payload):
        with pytest.raises(FrameError) as caught:
            FrameReader().read(Event(json.dumps(payload)))
        assert caught.value.payload == payload
        with pytest.raises(FrameError):
            FrameReader().read_json(payload)

    @pytest.mark.parametrize("data", ['{"message": "gone"}', "gone"])
    def test_may_be_an_event_named_error(self, data):
        with pytest.raises(FrameError) as caught:
            FrameReader().read(Event(data, "error"))
        assert caught.value.payload in ({"message": "gone"}, "gone")

    @pytest.mark.parametrize("broken", ["{", '{"response":"a"} x', "5", '"text"', "[" * 100_000, "9" * 5_000])
    def test_are_also_frames_that_cannot_be_read(self, broken):
        with pytest.raises(FrameError) as caught:
            FrameReader().read(Event(broken))
        assert caught.value.payload is None

    def test_are_not_seen_in_a_frame_that_the_end_of_the_stream_cut(self):
        assert FrameReader().read(Event('{"response":"a', unfinished=True)) is None

    def test_never_show_the_chat_in_the_text_of_the_exception(self):
        with pytest.raises(FrameError) as caught:
            FrameReader().read(Event('{"error": "bad input: my secret"}'))
        assert "secret" not in str(caught.value)

    def test_leave_what_was_held_back_to_be_read(self):
        reader = FrameReader()
        reader.read(Event('{"response": "\\ud83d"}'))
        with pytest.raises(FrameError):
            reader.read(Event('{"error": "x"}'))
        assert reader.flush() == Delta("\ufffd")

    def test_are_not_the_empty_fields_of_a_good_frame(self):
        frame = {"response": "a", "error": None, "errors": [], "success": True}
        assert FrameReader().read(Event(json.dumps(frame))) == Delta("a")

    @given(st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
        ),
        max_leaves=30,
    ))  # fmt: skip
    def test_are_all_that_any_json_can_raise(self, value):
        for inline in (False, True):
            reader = FrameReader(inline_reasoning=inline)
            try:
                deltas = [reader.read(Event(json.dumps(value))), reader.read_json(value), reader.flush()]
            except FrameError:
                continue
            for delta in filter(None, deltas):
                (delta.text + delta.reasoning + delta.finish_reason).encode()
            json.dumps([reader.tool_calls, reader.finish_reason], ensure_ascii=False).encode()


class TestWholeAnswers:
    MESSAGE = {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}]
    }

    @pytest.mark.parametrize(
        ("body", "delta"),
        [
            ({"result": {"response": "Hi", "tool_calls": []}, "success": True, "errors": []}, Delta("Hi")),
            ({"result": MESSAGE, "success": True}, Delta("Hi", "", "stop")),
            ({"result": {"response": {"a": 1}} | MESSAGE, "success": True}, Delta('{"a": 1}', "", "stop")),
            (MESSAGE, Delta("Hi", "", "stop")),
            ({"response": "Hi"}, Delta("Hi")),
            ({"result": {"response": 42}}, Delta("42")),
            ({"result": "Hi"}, Delta("Hi")),
            ({"streamed_data": [{"response": "H"}, {"response": "i"}]}, Delta("Hi")),
            ({"result": {"streamed_data": [{"response": "\ud83d"}, {"response": "\ude00"}]}}, Delta("😀")),
            ({"result": {"choices": [{"text": "Hi"}]}}, Delta("Hi")),
            ({"result": {}, "success": True}, Delta()),
            ({"result": None, "success": True}, Delta()),
            (None, Delta()),
        ],
    )
    def test_are_read_in_every_envelope(self, body, delta):
        reader = FrameReader()
        assert reader.read_json(body) == delta
        assert reader.done
        assert reader.read(Event('{"response": "more"}')) is None

    def test_bring_reasoning_and_usage(self):
        message = {"content": None, "reasoning_content": "Hm.", "reasoning": "Hm."}
        reader = FrameReader()
        body = {
            "choices": [{"message": message, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 779, "completion_tokens": 187, "neurons": 1.5},
        }
        assert reader.read_json({"result": body}) == Delta("", "Hm.", "length")
        assert reader.usage == Usage(779, 187, 0, 1.5)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("stop", "stop"),
        ("LENGTH", "length"),
        ("model_length", "length"),
        ("tool-calls", "tool_calls"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("refusal", "content_filter"),
        ("error", "error"),
        ("a\0b", "other"),
        ("x" * 99, "other"),
        (7, ""),
    ],
)
def test_finish_reasons_are_said_in_one_way(sent, reason):
    assert read(frames({"finish_reason": sent})).finish_reason == reason


def test_only_the_first_choice_becomes_text():
    second = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    assert read(frames(chunk("yes"), second)) == Reply("yes")


def test_why_a_model_refuses_is_what_it_says():
    refused = {"choices": [{"delta": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]}
    assert read(frames(refused)).text == "I cannot."
