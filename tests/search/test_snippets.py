"""Cutting of snippets: without Markdown, and how long it takes for a long phrase in a long text."""

import time
from datetime import UTC

from chat.search.query import parse
from chat.search.snippets import snippet


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


def test_a_question_is_shown_as_it_was_typed() -> None:
    assert snippet("2 **3** = 8", parse("8", UTC).terms).text == "2 **3** = 8"


def test_a_row_of_a_table_that_is_cut_shows_no_bars() -> None:
    text = "word " * 300 + "\n| " + "cell | " * 8 + "needle | more |\n"
    found = snippet(text, parse("needle", UTC).terms, is_markdown=True)
    assert "|" not in found.text
    assert [found.text[start:end] for start, end in found.marks] == ["needle"]


def test_a_match_in_an_address_is_shown_with_it() -> None:
    found = snippet("See [this](https://needle.org) now", parse("needle", UTC).terms, is_markdown=True)
    assert found.text == "See [this](https://needle.org) now"
    assert found.marks


def test_the_code_of_a_block_that_began_far_above_is_kept() -> None:
    text = "```\n" + "x = y\n" * 200 + "needle = a ** b\n```\n"
    assert "a ** b" in snippet(text, parse("needle", UTC).terms, is_markdown=True).text
