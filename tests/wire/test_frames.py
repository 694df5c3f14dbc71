"""Frames of every shape, each stream read whole, byte by byte, and cut at every point."""

import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.wire.frames import Delta, FrameError, Reader, Usage
from chat.wire.sse import Decoder, Event

CONVERSATIONS = Path(__file__).parent / "conversations"
CHOICE_KEYS = ["choices", "index", "delta", "message", "text", "finish_reason"]
SAID_KEYS = ["content", "response", "reasoning", "tool_calls", "function", "arguments", "name", "id"]
OTHER_KEYS = ["usage", "prompt_tokens", "prompt_tokens_details", "result", "streamed_data"]
KEYS = CHOICE_KEYS + SAID_KEYS + OTHER_KEYS


@dataclass
class Reply:
    """What came of a whole stream."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    done: bool = True
    usage: Usage | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


def read(*chunks: bytes, **options: bool) -> Reply:
    decoder, reader = Decoder(), Reader(**options)
    events = [event for chunk in chunks for event in decoder.feed(chunk)] + decoder.close()
    deltas = [delta for event in events if (delta := reader.read(event))]
    deltas.append(reader.close() or Delta())
    said = [delta.finish_reason for delta in deltas if delta.finish_reason]
    assert reader.finish_reason == (said[-1] if said else "")
    text = "".join(delta.text for delta in deltas)
    reasoning = "".join(delta.reasoning for delta in deltas)
    return Reply(text, reasoning, reader.finish_reason, reader.done, reader.usage, reader.tool_calls)


def frames(*values: object) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(value).encode() for value in values) + b"data: [DONE]\n\n"


def chunk(content: object = None, **more: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": content, **more}, "finish_reason": None}]}


RECORDED = {
    "native": Reply("Hello! I am here.", usage=Usage(10, 50)),
    "catalogue": Reply("أهلا 👋", finish_reason="stop", usage=Usage(147, 16, 64, 1.7727271914482117)),
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


def test_a_stream_that_breaks_off_anywhere_brings_a_beginning_of_the_text_and_no_error():
    raw = (CONVERSATIONS / "catalogue.txt").read_bytes()
    whole = read(raw).text
    for cut in range(len(raw)):
        assert whole.startswith(read(raw[:cut]).text)


class TestUsage:
    INCREMENTS = (
        chunk("") | {"usage": {"prompt_tokens": 39, "completion_tokens": 0, "neurons": 1.25}},
        chunk("a") | {"usage": {"prompt_tokens": 0, "completion_tokens": 1, "neurons": 0.25}},
        chunk("b") | {"usage": {"prompt_tokens": 0, "completion_tokens": 2, "neurons": 0.25}},
        {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "neurons": 0}},
    )
    TOTAL = {"response": "", "usage": {"prompt_tokens": 39, "completion_tokens": 4, "neurons": 2}}

    def test_increments_are_added_up_when_no_total_comes(self):
        assert read(frames(*self.INCREMENTS)).usage == Usage(39, 3, 0, 1.75)

    def test_the_total_wins_wherever_it_stands(self):
        first, *rest = self.INCREMENTS
        for stream in ((*self.INCREMENTS, self.TOTAL), (first, self.TOTAL, *rest)):
            assert read(frames(*stream)).usage == Usage(39, 4, 0, 2)

    def test_a_total_of_zeros_says_nothing(self):
        zeros = {"response": "", "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
        assert read(frames(*self.INCREMENTS, zeros)).usage == Usage(39, 3, 0, 1.75)
        assert read(frames(*self.INCREMENTS, self.TOTAL, zeros)).usage == Usage(39, 4, 0, 2)
        assert read(frames(zeros)).usage is None

    def test_counts_that_repeat_the_prompt_are_counts_so_far(self):
        counts = [chunk("a") | {"usage": {"prompt_tokens": 13, "completion_tokens": n}} for n in (1, 2, 3)]
        assert read(frames(*counts)).usage == Usage(13, 3)

    def test_a_single_count_at_the_end_is_the_total(self):
        assert read(
            frames(chunk("a"), {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}})
        ).usage == (Usage(5, 1))

    @pytest.mark.parametrize("bad", [None, "many", -1, True, float("nan"), float("inf"), {}, []])
    def test_a_count_that_is_none_is_not_counted(self, bad):
        usage = {"prompt_tokens": 7, "completion_tokens": bad, "neurons": bad, "prompt_tokens_details": bad}
        assert read(frames({"response": "", "usage": usage})).usage == Usage(7)
        assert read(frames(chunk() | {"usage": usage})).usage == Usage(7)

    def test_as_a_dict_has_the_total(self):
        assert Usage(2, 3, 1, 0.5).as_dict() == {
            "prompt_tokens": 2,
            "completion_tokens": 3,
            "cached_tokens": 1,
            "neurons": 0.5,
            "total_tokens": 5,
        }


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
            Reader().read(Event(json.dumps(payload)))
        assert caught.value.payload == payload
        with pytest.raises(FrameError):
            Reader().read_json(payload)

    @pytest.mark.parametrize("data", ['{"message": "gone"}', "gone"])
    def test_may_be_an_event_named_error(self, data):
        with pytest.raises(FrameError) as caught:
            Reader().read(Event(data, "error"))
        assert caught.value.payload in ({"message": "gone"}, "gone")

    @pytest.mark.parametrize("broken", ["{", '{"response":"a"} x', "5", '"text"', "[" * 100_000, "9" * 5_000])
    def test_are_also_frames_that_cannot_be_read(self, broken):
        with pytest.raises(FrameError) as caught:
            Reader().read(Event(broken))
        assert caught.value.payload is None

    def test_are_not_seen_in_a_frame_that_the_end_of_the_stream_cut(self):
        assert Reader().read(Event('{"response":"a', unfinished=True)) is None

    def test_never_show_the_chat_in_the_text_of_the_exception(self):
        with pytest.raises(FrameError) as caught:
            Reader().read(Event('{"error": "bad input: my secret"}'))
        assert "secret" not in str(caught.value)

    def test_leave_what_was_held_back_to_be_read(self):
        reader = Reader()
        reader.read(Event('{"response": "\\ud83d"}'))
        with pytest.raises(FrameError):
            reader.read(Event('{"error": "x"}'))
        assert reader.close() == Delta("\ufffd")

    def test_are_not_the_empty_fields_of_a_good_frame(self):
        frame = {"response": "a", "error": None, "errors": [], "success": True}
        assert Reader().read(Event(json.dumps(frame))) == Delta("a")

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
            reader = Reader(inline_reasoning=inline)
            try:
                deltas = [reader.read(Event(json.dumps(value))), reader.read_json(value), reader.close()]
            except FrameError:
                continue
            for delta in filter(None, deltas):
                (delta.text + delta.reasoning + delta.finish_reason).encode()
            json.dumps([reader.tool_calls, reader.finish_reason], ensure_ascii=False).encode()


@given(st.text(st.characters()) | st.text("😀é\ud83d\ude00\udc4d\0x"), st.lists(st.integers(0, 100)))
def test_text_cut_between_its_utf_16_units_reads_like_the_whole(text, cuts):
    units = text.encode("utf-16-le", "surrogatepass")
    edges = sorted({0, len(units), *(cut * 2 % (len(units) + 2) for cut in cuts)})
    pieces = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(edges)]
    whole = units.decode("utf-16-le", "replace").replace("\0", "")
    if "\0" not in text:  # a NUL between two halves joins them, in the whole as well
        assert read(frames(*({"response": piece} for piece in pieces))).text == whole
    assert read(frames(*(chunk(piece) for piece in pieces))).text == read(frames({"response": text})).text


class TestInlineReasoning:
    @pytest.mark.parametrize(
        ("stream", "text", "reasoning"),
        [
            ("Let me see.</think>\n\nYes.", "\n\nYes.", "Let me see."),
            ("<think>Let me see.</think>Yes.", "Yes.", "Let me see."),
            ("\n<think>\nHm</think>Yes", "Yes", "\nHm"),
            ("a < b </ think </thin</think>x</think>y", "x</think>y", "a < b </ think </thin"),
            ("<thinking is hard>", "", "<thinking is hard>"),
            ("never ends </thi", "", "never ends </thi"),
            ("<thi", "", "<thi"),
            ("<think>", "", ""),
            ("</think>", "", ""),
            ("😀</think>👍", "👍", "😀"),
        ],
    )
    def test_ends_with_its_tag_however_it_is_cut(self, stream, text, reasoning):
        expected = (text, reasoning)
        for cut in range(len(stream) + 1):
            reply = read(
                frames({"response": stream[:cut]}, {"response": stream[cut:]}), inline_reasoning=True
            )
            assert (reply.text, reply.reasoning) == expected
        reply = read(frames(*({"response": letter} for letter in stream)), inline_reasoning=True)
        assert (reply.text, reply.reasoning) == expected

    def test_is_not_looked_for_once_the_server_sends_reasoning_apart(self):
        stream = frames(chunk(None, reasoning_content="Hm."), chunk("Yes "), chunk("or no"))
        reply = read(stream, inline_reasoning=True)
        assert (reply.text, reply.reasoning) == ("Yes or no", "Hm.")

    def test_is_left_alone_in_the_text_of_other_models(self):
        assert read(frames({"response": "a</think>b"})).text == "a</think>b"

    def test_is_found_in_a_whole_answer(self):
        delta = Reader(inline_reasoning=True).read_json({"result": {"response": "Hm</think>Yes"}})
        assert delta == Delta("Yes", "Hm")


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
        reader = Reader()
        assert reader.read_json(body) == delta
        assert reader.done
        assert reader.read(Event('{"response": "more"}')) is None

    def test_bring_reasoning_and_usage(self):
        message = {"content": None, "reasoning_content": "Hm.", "reasoning": "Hm."}
        reader = Reader()
        body = {
            "choices": [{"message": message, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 779, "completion_tokens": 187, "neurons": 1.5},
        }
        assert reader.read_json({"result": body}) == Delta("", "Hm.", "length")
        assert reader.usage == Usage(779, 187, 0, 1.5)

    def test_may_call_tools_with_arguments_that_are_an_object(self):
        reader = Reader()
        reader.read_json(
            {"result": {"response": None, "tool_calls": [{"name": "f", "arguments": {"a": "é"}}]}}
        )
        function = {"name": "f", "arguments": '{"a": "é"}'}
        assert reader.tool_calls == [{"id": "call_0", "type": "function", "function": function}]


class TestToolCalls:
    def test_of_two_functions_are_kept_apart(self):
        def part(index, **function):
            return chunk(tool_calls=[{"index": index, "function": function}])

        reply = read(
            frames(part(1, name="b", arguments=""), part(0, name="a", arguments="{"), part(1, arguments="[]"),
                   part(0, arguments="}"))
        )  # fmt: skip
        assert [call["function"] for call in reply.tool_calls] == [
            {"name": "a", "arguments": "{}"},
            {"name": "b", "arguments": "[]"},
        ]

    def test_may_come_without_an_index_and_end_with_a_reason_at_the_top(self):
        call = {"id": "call123", "type": "function", "function": {"name": "weather", "arguments": '{"at":'}}
        rest = {"id": None, "type": None, "function": {"name": None, "arguments": '"x"}'}}
        reply = read(
            frames({"tool_calls": [call]}, {"tool_calls": [rest, None]}, {"finish_reason": "tool_calls"})
        )
        assert reply.finish_reason == "tool_calls"
        assert reply.tool_calls == [
            {"id": "call123", "type": "function", "function": {"name": "weather", "arguments": '{"at":"x"}'}}
        ]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("LENGTH", "length"),
        ("model_length", "length"),
        ("tool-calls", "tool_calls"),
        ("content_filter", "content_filter"),
        ("error", "error"),
        ("a\0b", "other"),
        ("x" * 99, "other"),
        (7, ""),
    ],
)
def test_finish_reasons_are_said_in_one_way(said, reason):
    assert read(frames({"finish_reason": said})).finish_reason == reason


def test_further_choices_than_the_first_are_not_mixed_into_the_text():
    second = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    assert read(frames(chunk("yes"), second)) == Reply("yes")
