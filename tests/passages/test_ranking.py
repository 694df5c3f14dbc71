"""The order of passages, and the passages."""

from itertools import pairwise

import pytest

from chat.files.passages.best_passages import COUNTED_WORDS, FOLDED_CHARS, Corpus
from chat.files.passages.pages import OVERLAP_CHARS, PASSAGE_CHARS, PageText, joined, split
from chat.search.words import fold

TEXTS = [
    "The contract ends with a notice of three months. The notice is in writing.",
    "The rent is 900 euros a month and is paid in advance.",
    "Pets are allowed: cats, small dogs and birds. Notice the door.",
    "Kündigungsfrist: drei Monate zum Quartalsende.",
    "東京の家賃は高い。",
]


def best(question: str) -> int | None:
    found = Corpus(TEXTS).scores(question)
    return max(range(len(TEXTS)), key=found.__getitem__) if any(found) else None


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("How long is the notice of the contracts?", 0),
        ("What is the rent?", 1),
        ("May I have a dog?", 2),
        ("kundigungsfristen", 3),
        ("東京", 4),
        ("Zebra?", None),
        ("", None),
        ("?!", None),
    ],
)
def test_the_passage_that_answers_comes_first(question: str, place: int | None) -> None:
    assert best(question) == place


def test_no_text_has_no_scores() -> None:
    assert Corpus([]).scores("rent") == []
    assert Corpus(["", " "]).scores("rent") == [0.0, 0.0]


@pytest.mark.parametrize(
    "text", ["word " * 2_000, "x" * 5_000, "a line\n" * 900, "One. Two. " * 500, "short"]
)
def test_passages_cover_the_page_and_join_to_it(text: str) -> None:
    found = list(split(PageText(3, text)))
    assert all(len(each.text) <= PASSAGE_CHARS and each.page == 3 for each in found)
    assert all(text[each.start : each.end] == each.text for each in found)
    for before, after in pairwise(found):
        assert before.end - OVERLAP_CHARS == after.start
    [whole] = joined(found)
    assert (whole.start, whole.end, whole.text) == (0, len(text), text)


def test_an_empty_page_has_no_passage() -> None:
    assert [*split(PageText(1, "")), *split(PageText(1, " \n" * 2_000))] == []


def test_passages_apart_or_on_other_pages_stay_apart() -> None:
    first, _second, third, *_ = split(PageText(1, "word " * 2_000))
    [other] = split(PageText(2, "short"))
    assert joined([first, third, other]) == [first, third, other]


def test_words_in_the_middle_of_a_long_question_do_not_count() -> None:
    """Each word is counted in all passages, and a question may have 30,000 words."""
    some, others = (" ".join(f"{mark}{n:03}" for n in range(COUNTED_WORDS)) for mark in "xy")
    assert best(f"What is the rent? {some} {others}") == 1
    assert best(f"{some} {others} What is the rent?") == 1
    assert best(f"{some} What is the rent? {others}") is None


def test_a_character_that_expands_does_not_multiply_the_text() -> None:
    assert fold("\ufdfa" * 1_500) != "\ufdfa" * 1_500
    assert all(len(each) <= FOLDED_CHARS for each in Corpus(["\ufdfa" * 1_500])._folded)
