"""Content, reasoning and refusals in every shape, streamed and whole."""

import pytest

from tests.wire.streams import Reply, body, chunk, frames, message, read_both_ways

THOUGHT = [{"type": "text", "text": "Hm"}]
SHAPES = [
    ({"content": "Hi"}, Reply("Hi")),
    ({"content": None}, Reply()),
    ({"content": ""}, Reply()),
    ({"content": []}, Reply()),
    ({"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]}, Reply("Hi")),
    ({"content": [{"type": "output_text", "text": "Hi", "annotations": []}]}, Reply("Hi")),
    ({"content": {"type": "text", "text": "Hi"}}, Reply("Hi")),
    ({"content": ["H", {"type": "text", "content": "i"}]}, Reply("Hi")),
    ({"content": [{"type": "text", "text": {"value": "Hi"}}]}, Reply("Hi")),
    (
        {"content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": "Hi"}]},
        Reply("Hi", "Hm"),
    ),
    ({"content": [{"type": "thinking", "thinking": "Hm", "signature": "x"}]}, Reply("", "Hm")),
    (
        {"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]}]},
        Reply("", "Hm"),
    ),
    ({"content": [{"type": "redacted_thinking", "data": "x"}]}, Reply()),
    ({"content": [{"type": "refusal", "refusal": "No."}]}, Reply(refusal="No.")),
    ({"content": [{"type": "reference", "reference_ids": [1]}]}, Reply()),
    ({"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,x"}}]}, Reply("[image]")),
    (
        {"content": [{"type": "image_url", "image_url": "https://example.org/a.png"}]},
        Reply("[image: https://example.org/a.png]"),
    ),
    ({"content": [{"type": "input_audio", "input_audio": {"data": "x"}}]}, Reply("[audio]")),
    ({"content": 1}, Reply("1")),
    ({"content": {"a": [1, None]}}, Reply('{"a": [1, null]}')),
    ({"content": ["a"]}, Reply('["a"]')),
    ({"refusal": "No.", "content": None}, Reply(refusal="No.")),
    *(({name: "Hm"}, Reply("", "Hm")) for name in ("reasoning", "reasoning_content", "reasoning_text")),
    *(({name: "Hm"}, Reply("", "Hm")) for name in ("thinking", "thoughts", "thought")),
    ({"reasoning": "Hm", "reasoning_content": "Hm"}, Reply("", "Hm")),
    ({"reasoning": {"content": "Hm"}, "content": ""}, Reply("", "Hm")),
    ({"reasoning": {"text": "Hm"}}, Reply("", "Hm")),
    ({"reasoning": {"summary": [{"type": "summary_text", "text": "Hm"}]}}, Reply("", "Hm")),
    ({"thinking": [{"type": "text", "text": "Hm"}]}, Reply("", "Hm")),
    ({"reasoning": ["H", "m"]}, Reply("", "Hm")),
    ({"reasoning": {}, "content": "Hi"}, Reply("Hi")),
    ({"thought": True, "content": "Hi"}, Reply("Hi")),
    ({"reasoning_content": 0}, Reply("", "0")),
]


@pytest.mark.parametrize(("fields", "reply"), SHAPES)
def test_every_shape_is_read_streamed_and_whole(fields, reply):
    assert read_both_ways(frames({"choices": [{"index": 0, "delta": fields}]})) == reply
    whole = read_both_ways(body(message(**fields)))
    assert (whole.text, whole.reasoning, whole.refusal) == (reply.text, reply.reasoning, reply.refusal)


def test_deep_nesting_is_no_text():
    deep = "x"
    for _ in range(100):
        deep = {"content": [deep]}
    assert read_both_ways(frames(chunk("Hi", reasoning=deep))) == Reply("Hi")


def test_what_a_provider_wants_back_is_passed_on_whole():
    details = [
        {"type": "reasoning.text", "text": "Let ", "index": 0, "format": "anthropic", "signature": None},
        {"type": "reasoning.text", "text": "me see", "index": 0, "signature": "SIG"},
        {"type": "reasoning.encrypted", "data": "abc", "index": 1},
    ]
    reply = read_both_ways(
        frames(
            *(chunk("", reasoning_details=[each]) for each in details),
            chunk("Hi", extra_content={"google": {"thought_signature": "S"}}),
        )
    )
    assert (reply.text, reply.reasoning) == ("Hi", "Let me see")
    whole = {
        "type": "reasoning.text",
        "text": "Let me see",
        "index": 0,
        "format": "anthropic",
        "signature": "SIG",
    }
    assert reply.more == {
        "reasoning_details": [whole, details[2]],
        "extra_content": {"google": {"thought_signature": "S"}},
    }
    assert read_both_ways(body(message(content="Hi", reasoning_details=details[2:]))).more == {
        "reasoning_details": details[2:]
    }


def test_blocks_of_thought_are_passed_on_whole():
    pieces = [
        {"type": "thinking", "thinking": "Let ", "signature": None},
        {"type": "thinking", "thinking": "me see", "signature": None},
        {"type": "thinking", "thinking": "", "signature": "SIG"},
    ]
    chunks = [chunk("", reasoning_content=each["thinking"], thinking_blocks=[each]) for each in pieces]
    reply = read_both_ways(frames(*chunks))
    assert reply.reasoning == "Let me see"
    assert reply.more == {
        "thinking_blocks": [{"type": "thinking", "thinking": "Let me see", "signature": "SIG"}]
    }


def test_notes_of_a_part_are_passed_on():
    notes = [{"type": "url_citation", "url": "https://example.org/a", "title": "A"}]
    reply = read_both_ways(frames(chunk([{"type": "output_text", "text": "Hi", "annotations": notes}])))
    assert (reply.text, reply.more) == ("Hi", {"annotations": notes})


def test_half_a_character_in_such_a_field_stays_none():
    assert read_both_ways(frames(chunk("a", annotations=[{"x": "\ud83d"}]))).more == {
        "annotations": [{"x": "\ufffd"}]
    }


def test_pictures_are_named_and_passed_on():
    pictures = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,x"}}]
    reply = read_both_ways(frames(chunk("Here: ", images=pictures)))
    assert (reply.text, reply.more) == ("Here: [image]", {"images": pictures})
