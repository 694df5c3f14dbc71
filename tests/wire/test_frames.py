"""Frames of every shape, each stream read whole, byte by byte, and cut at every point."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.wire.delta_decoder import DeltaDecoder
from chat.wire.frames import Delta, FrameError, FrameReader
from chat.wire.sse import Event, LineTooLong
from chat.wire.usage import Usage
from tests.wire.streams import Reply, body, chunk, ended, frames, message, read, read_both_ways

CONVERSATIONS = Path(__file__).parent / "conversations"
CHOICE_KEYS = ["choices", "index", "delta", "message", "text", "finish_reason"]
SAID_KEYS = ["content", "response", "reasoning", "tool_calls", "function", "arguments", "name", "id"]
OTHER_KEYS = ["usage", "prompt_tokens", "prompt_tokens_details", "result", "streamed_data"]
MORE_KEYS = ["type", "refusal", "annotations", "url", "images", "reasoning_details", "function_call"]
KEYS = CHOICE_KEYS + SAID_KEYS + OTHER_KEYS + MORE_KEYS


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
            {"error_code": 18, "error_msg": "Open api qps request limit reached"},
            {"status": "error", "message": "no GPU is free"},
            {"code": 500, "msg": "system busy"},
        ],
    )
    def test_are_raised_with_what_was_said(self, payload):
        with pytest.raises(FrameError) as caught:
            FrameReader().read(Event(json.dumps(payload)))
        assert caught.value.payload == payload
        with pytest.raises(FrameError):
            read(body(payload))

    def test_may_stand_in_a_field_of_the_server_s_own(self):
        with pytest.raises(FrameError) as caught:
            read(frames(chunk("Hi"), {**chunk(), "x_groq": {"id": "r", "error": "over_capacity"}}))
        assert caught.value.payload == {"id": "r", "error": "over_capacity"}
        assert read(frames({**chunk("Hi"), "x_groq": {"id": "r"}}, ended("stop"))).text == "Hi"

    @pytest.mark.parametrize("data", ['{"message": "gone"}', "gone"])
    def test_may_be_an_event_named_error(self, data):
        with pytest.raises(FrameError) as caught:
            FrameReader().read(Event(data, "error"))
        assert caught.value.payload in ({"message": "gone"}, "gone")

    @pytest.mark.parametrize(
        "broken", ["5", '"text"', "[]", "ping", "[1]", "[PROCESSING]", "keep-alive", "9" * 5_000]
    )
    def test_are_no_frames_that_cannot_be_read(self, broken):
        reader = FrameReader()
        assert reader.read(Event(broken)) is None
        assert reader.skipped == 1

    @pytest.mark.parametrize(
        "broken",
        [
            "{",
            '{"response":"not ',
            '{"response":"a"} x',
            '{"response":"two\ndata: lines\ndata: "',
            "[" * 100_000,
        ],
    )
    def test_are_frames_that_are_broken(self, broken):
        stream = b'data: {"response":"is "}\n\ndata: %s\n\n' % broken.encode() + frames(
            chunk("it"), ended("stop")
        )
        for name in (b"", b"event: chunk\n"):
            decoder = DeltaDecoder(inline_reasoning=False, max_tokens=9)
            said = decoder.decode(stream.replace(b"\n\ndata: ", b"\n\n" + name + b"data: "))
            assert (said.text, type(decoder.failure)) == ("is ", FrameError)

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
                deltas = [reader.read(Event(json.dumps(value))), reader.flush()]
            except FrameError:
                continue
            for delta in filter(None, deltas):
                (delta.shown_text + delta.reasoning + delta.finish_reason).encode()
                json.dumps([delta.tool_calls, delta.more], ensure_ascii=False).encode()
            json.dumps([reader.calls.as_list(), reader.reason], ensure_ascii=False).encode()


class TestWholeAnswers:
    MESSAGE = {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}]
    }

    @pytest.mark.parametrize(
        ("sent", "reply"),
        [
            ({"result": {"response": "Hi", "tool_calls": []}, "success": True, "errors": []}, Reply("Hi")),
            ({"result": MESSAGE, "success": True}, Reply("Hi", "", "stop")),
            ({"result": {"response": {"a": 1}} | MESSAGE, "success": True}, Reply('{"a": 1}', "", "stop")),
            (MESSAGE, Reply("Hi", "", "stop")),
            ([MESSAGE], Reply("Hi", "", "stop")),
            ({"response": "Hi"}, Reply("Hi")),
            ({"result": {"response": 42}}, Reply("42")),
            ({"result": "Hi"}, Reply("Hi")),
            ({"streamed_data": [{"response": "H"}, {"response": "i"}]}, Reply("Hi")),
            ({"result": {"streamed_data": [{"response": "\ud83d"}, {"response": "\ude00"}]}}, Reply("😀")),
            ({"result": {"choices": [{"text": "Hi"}]}}, Reply("Hi")),
            ({"result": {}, "success": True}, Reply()),
            ({"result": None, "success": True}, Reply()),
        ],
    )
    def test_are_read_in_every_envelope(self, sent, reply):
        assert read_both_ways(body(sent)) == reply
        assert read_both_ways(json.dumps(sent, indent=2).encode() + b"\n") == reply

    def test_bring_reasoning_and_usage(self):
        message = {"content": None, "reasoning_content": "Hm.", "reasoning": "Hm."}
        sent = {
            "choices": [{"message": message, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 779, "completion_tokens": 187, "neurons": 1.5},
        }
        assert read(body({"result": sent})) == Reply("", "Hm.", "length", usage=Usage(779, 187, 0, 1.5))


def test_only_the_first_choice_becomes_text():
    second = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    assert read(frames(chunk("yes"), second)) == Reply("yes")
    first = {"choices": [{"index": "0", "delta": {"content": "yes"}, "finish_reason": None}]}
    assert read(frames(first)) == Reply("yes")
    second["choices"] += first["choices"]
    assert read(frames(second)) == Reply("yes")


def test_the_only_choice_may_have_any_index():
    pieces = [{"choices": [{"index": 1, "delta": {"content": text}}]} for text in ("Hi", " you")]
    assert read(frames(*pieces)) == Reply("Hi you")
    whole = message(content="Hi")
    whole["choices"][0]["index"] = 1
    assert read(body(whole)) == Reply("Hi", finish_reason="stop")


def test_a_second_choice_may_hold_the_tool_calls_of_the_first():
    """Copilot sends what Claude says and what it calls as two choices."""
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    reply = message("tool_calls", content="Let me look.")
    reply["choices"] += [{"index": 1, "message": {"content": None, "tool_calls": calls}}]
    assert read_both_ways(body(reply)) == Reply("Let me look.", "", "tool_calls", tool_calls=calls)
    own = message("tool_calls", tool_calls=calls)
    own["choices"] += own["choices"]
    assert read_both_ways(body(own)).tool_calls == calls


@pytest.mark.parametrize(
    "frame", [{"code": 0, "data": {"a": 1}}, {"code": "Success", "message": "ok"}, {"status": "ok"}]
)
def test_a_frame_of_no_known_shape_is_skipped(frame):
    for stream in (body(frame), frames(frame)):
        decoder = DeltaDecoder(inline_reasoning=False, max_tokens=9)
        assert (decoder.decode(stream), decoder.decode(None)) == (None, None)
        assert (decoder.failure, decoder.skipped, decoder.is_empty) == (None, 1, True)
    assert read(frames(chunk("Hi"), {**ended("stop"), "base_resp": {"status_code": 0}})).text == "Hi"


FRAMES = frames(chunk("Hi"), chunk(" you"), ended("stop"))
LINES = [json.dumps(each) for each in (chunk("Hi"), chunk(" you"), ended("stop"))]
WITHOUT_LINES = [
    b"\xef\xbb\xbf" + FRAMES,
    b"\n\n" + FRAMES,
    FRAMES.replace(b"data: ", b"data:"),
    FRAMES.replace(b"data: ", b"data: data: "),
    FRAMES.replace(b"\n", b"\r\n"),
    FRAMES.replace(b"\n\n", b"\n"),
    FRAMES.replace(b"\n\n", b"\r\n"),
    b": hello\n\n" + FRAMES.replace(b"\n\n", b"\n\n: ping\n\n"),
    FRAMES.replace(b"\n\ndata: {", b"\n\ndata: ping\n\ndata: {"),
    FRAMES.replace(b"\n\ndata: {", b"\n\ndata: []\n\ndata:\n\ndata: {"),
    FRAMES.replace(b"\n\ndata: {", b'\n\ndata: null\n\ndata: {"type": "ping"}\n\ndata: {'),
    FRAMES.replace(b"\n\ndata: {", b"\ndata: ping\ndata: {"),
    FRAMES.replace(b"data: {", b"event: completion.chunk\ndata: {"),
    FRAMES.replace(b"data: {", b"event: data\ndata: {").replace(b"data: [", b"event: done\ndata: ["),
    FRAMES.replace(b"data: {", b'event: status\ndata: {"response": "no"}\n\nid: 7\nretry: 3\ndata: {'),
    FRAMES.replace(b"data: {", b"{"),
    "\n".join([*LINES, "[DONE]"]).encode(),
    "\n\n".join([*LINES, "data: [DONE]", ""]).encode(),
]


PRETTY = [json.dumps(each, indent=2) for each in (chunk("Hi"), chunk(" you"), ended("stop"))]
WITHOUT_LINES += [
    "\n".join([": ping", "", *PRETTY, "data: [DONE]"]).encode(),
    "\n\n".join([": ping", *PRETTY, ": ping", "data: [DONE]"]).encode(),
    "\n".join([": ping", *LINES, "data: [DONE]"]).encode(),
]


@pytest.mark.parametrize("stream", WITHOUT_LINES)
def test_a_stream_may_break_the_rules(stream):
    assert read_both_ways(stream) == Reply("Hi you", finish_reason="stop")


@pytest.mark.parametrize("stream", [FRAMES.replace(b"\n\n", b"\n"), "\n".join([*LINES, ""]).encode()])
def test_such_a_stream_is_read_as_it_comes(stream):
    decoder, said = DeltaDecoder(inline_reasoning=False, max_tokens=100), []
    for line in stream.splitlines(keepends=True):
        delta = decoder.decode(line)
        said.append(delta.text if delta else "")
    assert said[:3] in (["", "Hi you", ""], ["Hi", " you", ""])


@pytest.mark.parametrize(
    "empty",
    [
        {"error": {"message": "", "type": "", "param": "", "code": None}},
        {"error": {"code": 0, "message": ""}},
        {"error_msg": "success"},
        {"internalCode": None},
        {"base_resp": {"status_code": "0"}},
    ],
)
def test_an_empty_error_is_none(empty):
    assert read_both_ways(frames(chunk("Hi") | empty, ended("stop"))).text == "Hi"
    assert read_both_ways(body(message(content="Hi") | empty)).text == "Hi"


def test_several_values_in_one_line_are_read():
    one, two = json.dumps(chunk("one ")).encode(), json.dumps(chunk("two ")).encode()
    stream = b"data: " + one + two + b"\n\n" + frames(chunk("three"), ended("stop"))
    assert read_both_ways(stream).text == "one two three"


@pytest.mark.parametrize(
    "choice",
    [
        {"finish_details": {"type": "max_tokens"}},
        {"stop_reason": "max_tokens"},
        {"delta": {"finish_reason": "length"}},
        {"finish_reason": "max_length_reached"},
    ],
)
def test_the_finish_reason_may_stand_beside_its_place(choice):
    stream = frames(chunk("Hi"), {"choices": [{"index": 0, "delta": {}, **choice}]})
    assert read_both_ways(stream) == Reply("Hi", finish_reason="length")


def test_lines_of_one_value_are_one_value():
    assert read_both_ways(b'data: {"response":\ndata: "a"}\n\ndata: [DONE]\n\n').text == "a"


@pytest.mark.parametrize(
    "stream",
    [
        b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}',
        b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}\n\n',
        b'\n\n{\n  "error": "slow down"\n}\n',
        b'[{"error": {"code": 429, "message": "slow down"}}]',
        b'data: {"error": {"message": "slow down"}}\n\n',
        b'error: {"code": 500, "message": "slow down"}\n\n',
        b'event: error\ndata: {"message": "slow down"}\n\n',
        b'event: chunk\ndata: {"error": {"message": "slow down"}}\n\n',
        b'data: {"object": "error", "message": "slow down", "code": 40001}\n\n',
        b'data: {"code": 429, "message": "slow down"}\n\n',
        b'data: {"code": "429", "message": "slow down"}\n\n',
        b'data: {"code": "Throttling", "message": "slow down", "request_id": "r"}\n\n',
        b'data: {"choices": null, "base_resp": {"status_code": 1002, "status_msg": "slow down"}}\n\n',
        b'data: {"choices": [{"index": 0, "delta": {}, "error": {"message": "slow down"}}]}\n\n',
        b'data: {"choices": [], "error": {"message": "slow down"}}\n\n',
        b": ping\n\n" + body({"error": "slow down"}) + b"\n\n",
        b": ping\n\n" + json.dumps({"error": "slow down"}, indent=2).encode(),
        b"<!DOCTYPE html><p>slow down</p>",
        b'data: {"modelStreamErrorException": {"message": "slow down", "originalStatusCode": 424}}\n\n',
        b'data: {"status": 500, "title": "Internal Server Error", "detail": "slow down"}\n\n',
        b'data: {"detail": "slow down"}\n\n',
    ],
)
def test_an_error_is_one_whatever_its_form(stream):
    for chunks in ([stream], [stream[at : at + 1] for at in range(len(stream))]):
        with pytest.raises(FrameError) as caught:
            read(*chunks)
        assert caught.value.payload


@pytest.mark.parametrize(
    "last",
    [
        b'data: {"error": {"message": "usage failed", "code": 500}}\n\n',
        b'event: error\ndata: "gone"\n\n',
        b'error: {"message": "gone"}\n\n',
        b"data: " + b"x" * 1_100_000,
    ],
)
def test_behind_its_end_nothing_makes_a_reply_a_failure(last):
    whole = frames(chunk("Whole."), ended("stop"))[: -len(b"data: [DONE]\n\n")]
    for end in (b"", b"data: [DONE]\n\n"):
        reply = read(whole + last + end)
        assert (reply.text, reply.finish_reason) == ("Whole.", "stop")
    with pytest.raises((FrameError, LineTooLong)):
        read(frames(chunk("Not whole."))[: -len(b"data: [DONE]\n\n")] + last)


def test_text_goes_on_behind_a_finish_reason():
    """Some servers send a reason with each frame; then an error is one again."""
    stream = frames(
        ended("stop", reasoning="Hm"), ended("stop", content="The "), ended("stop", content="end.")
    )
    assert read_both_ways(stream) == Reply("The end.", "Hm", "stop")
    with pytest.raises(FrameError):
        read(stream[: -len(b"data: [DONE]\n\n")] + b'data: {"error": "gone"}\n\n')


def test_a_whole_message_behind_its_pieces_is_no_text():
    assert read_both_ways(frames(chunk("Hi"), chunk(" you"), message(content="Hi you"))).text == "Hi you"
    assert read_both_ways(frames(message(content="Hi"), message(content=" you"))).text == "Hi you"


def test_ollamas_own_shape_is_read():
    lines = [
        {"message": {"role": "assistant", "content": "", "thinking": "Hm"}, "done": False},
        {"message": {"role": "assistant", "content": "Hi"}, "done": False},
        {
            "message": {"content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 5,
            "eval_count": 2,
        },
    ]
    stream = b"\n".join(map(body, lines))
    assert read_both_ways(stream) == Reply("Hi", "Hm", "stop", usage=Usage(5, 2))


BEGUN, WORD = frames(chunk("Hi")).partition(b"data: [DONE]")[0], json.dumps(chunk(" you"))


@pytest.mark.parametrize(
    "frame",
    [
        "\0" + WORD,
        "\ufeff" + WORD,
        json.dumps(WORD),
        '{"choices": {"index": 0, "delta": {"content": " you"}}}',
        '{"choices": [{"index": 0, "delta": " you"}]}',
    ],
)
def test_a_frame_may_be_wrapped(frame):
    stream = BEGUN + f"data: {frame}\n\n".encode() + frames(ended("stop"))
    assert read_both_ways(stream).text == "Hi you"


@pytest.mark.parametrize(
    "frame", [f"b'{WORD}'", f"x: {WORD}", json.dumps(WORD[:-2]), "Internal Server Error\n\ndata: [DONE]"]
)
def test_text_that_is_not_understood_ends_the_reply(frame):
    stream = BEGUN + f"data: {frame}\n\n".encode()
    with pytest.raises(FrameError):
        read(stream, frames(ended("stop")))
