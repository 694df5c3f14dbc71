"""Cutting of snippets: how long it takes for a long phrase in a long text."""

import time
from datetime import UTC

from chat.search.query import parse
from chat.search.results import snippet


def test_a_long_phrase_is_looked_for_by_its_beginning() -> None:
    """The search holds the interpreter lock, twenty times for a page: all of the phrase took 0.7 s each."""
    query = parse('"' + "a " * 148 + '"', UTC)
    almost = ("a " * 14 + "b ") * 14_000
    began = time.thread_time()
    snippet(almost, query.terms)
    short = time.thread_time() - began
    nearly = ("a " * 147 + "b ") * 1_400
    began = time.thread_time()
    snippet(nearly, query.terms)
    assert time.thread_time() - began < max(0.1, 2 * short)


def test_a_long_phrase_is_shown() -> None:
    words = " ".join(f"word{number}" for number in range(30))
    found = snippet(f"{'x ' * 5_000}{words}", parse(f'"{words}"', UTC).terms)
    assert "word0 word1" in found.text
