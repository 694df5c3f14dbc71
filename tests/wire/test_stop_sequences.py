"""A text ends before the first stop sequence, wherever its pieces are cut."""

import pytest

from chat.wire.text import StopSequences


def read(pieces: list[str], *stops: str) -> tuple[str, bool]:
    cutter = StopSequences(stops)
    text = "".join(cutter.add(piece) for piece in pieces)
    return text + cutter.flush(), cutter.found


@pytest.mark.parametrize(
    ("text", "stops", "expected"),
    [
        ("one two three", ["two"], "one "),
        ("one two three", ["three", "two"], "one "),
        ("one two three", ["four"], "one two three"),
        ("one two three", ["three!"], "one two three"),
        ("aaab", ["aab"], "a"),
        ("ababac", ["abac"], "ab"),
        ("a\n\nb", ["\n\n"], "a"),
        ("a😀b", ["😀"], "a"),
        ("stop", ["stop"], ""),
        ("abcabd", ["abd", "cab"], "ab"),
        ("abc", ["abc", "b"], "a"),
        ("", ["x"], ""),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_text_ends_before_the_first_stop(text: str, stops: list[str], expected: str, size: int) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert read(pieces, *stops) == (expected, expected != text)


def test_only_a_possible_beginning_is_held_back() -> None:
    cutter = StopSequences(["END"])
    assert [cutter.add(piece) for piece in ("one ", "E", "x", "two EN", "", "ough")] == [
        "one ", "", "Ex", "two ", "", "ENough",
    ]  # fmt: skip
    assert (cutter.flush(), cutter.found) == ("", False)


def test_nothing_follows_a_stop() -> None:
    cutter = StopSequences(["END"])
    assert [cutter.add("oneEND two"), cutter.add("three"), cutter.flush()] == ["one", "", ""]
