"""A continued reply has no seam: what the model repeats of its end is taken out, however it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.wire.text import MIN_OVERLAP_CHARS, OverlapFilter


def joined(earlier: str, new: str, size: int) -> str:
    """The old text and the new one, which comes in pieces of `size`."""
    seam = OverlapFilter(earlier)
    pieces = [seam.feed(new[at : at + size]) for at in range(0, len(new), size)]
    return earlier + "".join(pieces) + seam.close()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    ("earlier", "new", "whole"),
    [
        ("The quick brown", "The quick brown fox", "The quick brown fox"),
        ("The quick brown", " fox", "The quick brown fox"),
        ("It was a very quick brown", "very quick brown fox", "It was a very quick brown fox"),
        ("The inter", "national", "The international"),
        ("ha ha", " ha ha", "ha ha ha ha"),
        ("  }\n", "  }\n}\n", "  }\n  }\n}\n"),
        ("- one item here\n", "- one item here\n- two", "- one item here\n- two"),
        ("", "hello", "hello"),
        ("The quick brown", "", "The quick brown"),
        ("The quick brown", "The quick", "The quick brownThe quick"),
        ("abcabcabcabc", "abcabcabcabcd", "abcabcabcabcd"),
    ],
)
def test_a_repeated_end_is_there_once(earlier: str, new: str, whole: str, size: int) -> None:
    assert joined(earlier, new, size) == whole


@given(st.text("ab \n", max_size=40), st.text("ab \n", max_size=60), st.integers(1, 9))
def test_any_pieces_give_the_same(earlier: str, new: str, size: int) -> None:
    assert joined(earlier, new, size) == joined(earlier, new, len(new) + 1)


@given(st.text(min_size=MIN_OVERLAP_CHARS * 2, max_size=200), st.text(max_size=60), st.integers(1, 9))
def test_a_whole_repetition_goes(earlier: str, new: str, size: int) -> None:
    if len("".join(earlier.split())) >= MIN_OVERLAP_CHARS and new[:1] not in earlier:
        assert joined(earlier, earlier + new, size) == earlier + new
