"""Text cut inside a character, and thinking told from the reply."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.wire.frames import Delta, FrameReader
from tests.wire.streams import chunk, frames, read


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
        delta = FrameReader(inline_reasoning=True).read_json({"result": {"response": "Hm</think>Yes"}})
        assert delta == Delta("Yes", "Hm")
