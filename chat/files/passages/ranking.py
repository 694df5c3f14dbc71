"""The order of passages by how well they match a question: BM25, with the words of the search."""

import math
from collections.abc import Sequence

from chat.search import words

MAX_RANKED_TERMS = 24  # words of a question; of more words, only the rarest count
# As many words at the beginning of a question and at its end, which ask: between them may be pasted text.
# Counting 64 words in 6,000,000 characters takes a third of a second, all words of a long question minutes.
COUNTED_WORDS = 32
FOLDED_CHARS = 3_000  # of a passage: one character can become eighteen when it is folded
BM25_SATURATION, BM25_LENGTH_WEIGHT = 1.2, 0.75  # BM25's k1 and b, the usual values
# The end of a longer word is cut off, and each word that begins with the rest counts: "contracts" finds
# "contract" and "contractual". This works in many languages, and the language need not be known.
STEM_FROM_CHARS = 6
STEM_CUT_CHARS = 2
PREFIX_FROM_CHARS = 3


class Corpus:
    """Texts whose words are split once, for several questions."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._folded = [f" {' '.join(words.split(text))} "[:FOLDED_CHARS] for text in texts]
        self._lengths = [text.count(" ") for text in self._folded]
        self._usual = sum(self._lengths) / max(1, len(self._lengths))

    def scores(self, question: str) -> list[float]:
        """Return the score of each text; 0 where none of the question's words is in it."""
        counted = [[text.count(term) for text in self._folded] for term in _terms(question)]
        counted.sort(key=lambda counts: sum(map(bool, counts)))
        found = [0.0] * len(self._folded)
        for counts in [counts for counts in counted if any(counts)][:MAX_RANKED_TERMS]:
            having = sum(map(bool, counts))
            rarity = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
            for place, count in enumerate(counts):
                if count:
                    length = 1 - BM25_LENGTH_WEIGHT + BM25_LENGTH_WEIGHT * self._lengths[place] / self._usual
                    found[place] += (
                        rarity * count * (BM25_SATURATION + 1) / (count + BM25_SATURATION * length)
                    )
        return found


def _terms(question: str) -> list[str]:
    """Return what to look for in texts whose words are between single spaces."""
    found = list(dict.fromkeys(_term(word) for word in words.split(question)))
    return found if len(found) <= 2 * COUNTED_WORDS else found[:COUNTED_WORDS] + found[-COUNTED_WORDS:]


def _term(word: str) -> str:
    if len(word) < PREFIX_FROM_CHARS:
        return f" {word} "
    return f" {word[:-STEM_CUT_CHARS] if len(word) >= STEM_FROM_CHARS else word}"
