"""Equations in a growing text: however it arrives, a page ends up with what a reload shows."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chat.rendering.markdown import render

from .documents import cuts_of, maths_documents
from .page import faults, resumed, streamed

MANY = settings(max_examples=300)


@MANY
@given(st.data(), maths_documents)
def test_equations_end_the_same_in_whatever_pieces_they_arrive(data, text):
    assert streamed(text, data.draw(cuts_of(text))) == render(text, "m")


@MANY
@given(maths_documents)
def test_equations_end_the_same_one_character_at_a_time(text):
    assert streamed(text, list(range(len(text) + 1))) == render(text, "m")


@MANY
@given(st.data(), maths_documents)
def test_a_reader_at_any_position_sees_the_equations(data, text):
    cuts, position = data.draw(cuts_of(text)), data.draw(st.integers(0, len(text)))
    assert resumed(text, cuts, [position]) == [render(text, "m")]


@MANY
@given(maths_documents)
def test_equations_leave_one_element_a_block_and_no_mask(text):
    blocks = render(text, "m")

    assert faults(blocks) == []
    assert not any(character >= "\U0010f800" for character in "".join(blocks))
