"""The differences between two texts, by word, at a bounded cost."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.rendering import differences as module
from chat.rendering.differences import DELETE, EQUAL, INSERT, Piece, differences

MOST_SECONDS = 0.1  # of CPU time for 20,000 words
LETTER = "Dear Ms Weber,\nI am sorry that I cannot come on Monday.\n\nYours, Ann"


def texts_of(pieces: list[Piece]) -> tuple[str, str]:
    return (
        "".join(piece.text for piece in pieces if piece.kind != INSERT),
        "".join(piece.text for piece in pieces if piece.kind != DELETE),
    )


def marked(before: str, after: str) -> str:
    marks = {EQUAL: "{}", INSERT: "[+{}]", DELETE: "[-{}]"}
    return "".join(marks[piece.kind].format(piece.text) for piece in differences(before, after))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (LETTER, LETTER),
        (LETTER.replace("Ms", "Mr"), LETTER.replace("Ms ", "[-Ms ][+Mr ]")),
        (LETTER.replace("am sorry", "am very sorry"), LETTER.replace("am sorry", "am [+very ]sorry")),
        (LETTER.replace("Monday.", "Tuesday!"), LETTER.replace("Monday.", "[-Monday.][+Tuesday!]")),
        (LETTER + " B.", LETTER.replace("Ann", "[-Ann][+Ann B.]")),
    ],
)
def test_words_are_marked(after: str, expected: str) -> None:
    assert marked(LETTER, after) == expected


def test_a_word_between_two_changes_goes_with_them() -> None:
    assert marked("one two three four", "uno two tre four") == "[-one two three ][+uno two tre ]four"


def test_code_is_compared_by_line_and_word() -> None:
    before, after = "a = 1\nb = 2\nc = 3\n", "a = 1\nb = 20\nc = 3\nd = 4\n"
    assert marked(before, after) == "a = 1\nb = [-2][+20]\nc = 3\n[+d = 4\n]"


def test_chinese_is_compared_by_character() -> None:
    assert marked("\u6f22\u5b57\u4eee\u540d", "\u6f22\u5b57\u540d") == "\u6f22\u5b57[-\u4eee]\u540d"


@given(st.lists(st.sampled_from("a b.\n\t x_ é 漢 1"), max_size=60), st.data())
def test_nothing_is_lost(letters: list[str], data: st.DataObject) -> None:
    before = "".join(letters)
    after = "".join(data.draw(st.lists(st.sampled_from([*"a b.\n", *letters]), max_size=60)))
    assert texts_of(differences(before, after)) == (before, after)


def words(seed: int, count: int = 20_000, *, dots: bool = True) -> list[str]:
    source = random.Random(seed)
    chosen = source.choices(range(3_000), [1 / (n + 1) for n in range(3_000)], k=count)
    return [f"w{word}{'.' if dots and at % 17 == 16 else ''} " for at, word in enumerate(chosen)]


def changed(text: list[str], every: int) -> list[str]:
    return [f"new{at} " if at % every == 0 else word for at, word in enumerate(text)]


LONG = words(1)
WORST = {
    "edited everywhere": (LONG, changed(LONG, 20)),
    "edited in one sentence": (words(1, dots=False), changed(words(1, dots=False), 50)),
    "unrelated": (LONG, words(2)),
    "unrelated without an end": (words(1, dots=False), words(2, dots=False)),
    "nothing in common": ([f"a{n} " for n in range(20_000)], [f"b{n} " for n in range(20_000)]),
    "moved": (LONG, LONG[10_000:] + LONG[:10_000]),
    "four words": (random.Random(1).choices("abcd", k=20_000), random.Random(2).choices("abcd", k=20_000)),
    "lines": (["a\n"] * 20_000, ["a\n", "b\n"] * 10_000),
}


@pytest.mark.parametrize("name", WORST)
def test_20_000_words_are_compared_in_a_tenth_of_a_second(name: str) -> None:
    before, after = ("".join(text) for text in WORST[name])
    differences(before[:100], after[:100])
    took = []
    for _ in range(3):
        began = time.thread_time()
        pieces = differences(before, after)
        took.append(time.thread_time() - began)
    assert texts_of(pieces) == (before, after)
    assert min(took) < MOST_SECONDS


def test_an_edit_of_a_long_text_is_found() -> None:
    pieces = differences("".join(LONG), "".join(changed(LONG, 500)))
    assert sum(piece.kind == INSERT for piece in pieces) == 40


@pytest.mark.parametrize("text", ["a b. ", ".", " ", "x\n", "a"])
def test_the_longest_texts_are_bounded(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    distance = module.Levenshtein.distance

    def counted(old: list[int], new: list[int], *, score_cutoff: int) -> int:
        spent.append(max(len(old), len(new)) * score_cutoff)
        return int(distance(old, new, score_cutoff=score_cutoff))

    monkeypatch.setattr(module.Levenshtein, "distance", counted)
    whole = text * (400_000 // len(text))
    assert texts_of(differences(whole, whole[::-1] + "y")) == (whole, whole[::-1] + "y")
    assert all(each <= module.BUDGET for each in spent)
