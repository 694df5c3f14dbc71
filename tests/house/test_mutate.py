"""Each line that `make mutate` breaks is where the table says: code that moves or changes takes it along."""

from tests.house.mutate import MUTANTS, ROOT, places


def test_the_text_of_each_mutant_stands_in_the_code_once() -> None:
    texts = [text for lines in MUTANTS.values() for text in lines]
    assert len(set(texts)) == len(texts) >= 50
    assert {text: found for text in texts if len(found := places(text)) != 1} == {}


def test_the_tests_of_each_mutant_are_there() -> None:
    assert [tests for tests in MUTANTS if not (ROOT / tests.split()[0]).exists()] == []
