"""The passages of documents that match a question best: what is wanted, and the work of ranking them.

Ranking takes up to a second of CPU time, so neither a database thread nor the event loop may do it. A prompt
that needs it comes back as a `RankingRequest`, and is built again with the result.
"""

import math
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from django.utils.translation import gettext as _

from chat.db.fair_executor import FairExecutor
from chat.exceptions import ServiceOverloaded
from chat.models import Attachment
from chat.search import words
from chat.upstream.catalog import LlmModel

from . import embeddings
from .embeddings import QuestionVector
from .pages import DocumentPassage, all_pages, key_of, split

MAX_PASSAGES = 40  # of one prompt: more would cost a lot and seldom help
MAX_RANKED_QUESTIONS = 3  # the latest ones of a branch: each takes time
FUSED_PASSAGES = 200  # passages of each order that count when two orders become one
# With the usual 60, the best passage by meaning alone came after all those in both orders, and was not sent.
FIRST_RANKS = 10
RANKING_POOL = FairExecutor("ranking", 2)
MAX_WAITING_RANKINGS = 8  # prompts of one person
RANKING_RETRY_SECONDS = 5
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


@dataclass(frozen=True, slots=True)
class RankingRequest:
    """A ranking that a prompt for `model` needs before it can be built: of the passages of `documents`.

    `questions`: those that the passages are ranked by, latest first; see `Ranked`.
    """

    documents: tuple[Attachment, ...]
    questions: tuple[str, ...]
    model: LlmModel

    @classmethod
    def of(
        cls, documents: Sequence[Attachment], questions: Sequence[str], model: LlmModel
    ) -> "RankingRequest":
        return cls(tuple(documents), tuple(questions[:MAX_RANKED_QUESTIONS]), model)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best passages for `wanted`, best first, each with its document.

    The first question whose words are in the documents decides, and what is similar to the latest question,
    if the documents have embeddings. Without either, they are passages all over.
    """

    wanted: RankingRequest
    passages: tuple[tuple[Attachment, DocumentPassage], ...]


def submit(person: int, wanted: RankingRequest, question: QuestionVector | None = None) -> "Future[Ranked]":
    """Rank in a thread, when it is this person's turn. `question`: as for `rank`.

    Raises ServiceOverloaded.
    """
    if RANKING_POOL.waiting(person) >= MAX_WAITING_RANKINGS:
        words = _("Too many questions about long documents at once. Wait until these are answered.")
        raise ServiceOverloaded(words, retry_after=RANKING_RETRY_SECONDS)
    return RANKING_POOL.submit(person, rank, wanted, question)


def rank(wanted: RankingRequest, question: QuestionVector | None = None) -> Ranked:
    """Return the best passages. Reads the documents; blocks, for a second where they are very long.

    `question`: the embedding of the latest question. It counts if all passages have embeddings.
    """
    pages = all_pages(wanted.documents)
    passages = [
        (each, one) for each in wanted.documents for page in pages[key_of(each)] for one in split(page)
    ]
    similar = embeddings.compared(passages, question) if question else None
    best = _order([one.text for _each, one in passages], wanted.questions, similar)[:MAX_PASSAGES]
    return Ranked(wanted, tuple(passages[place] for place in best))


def _order(texts: Sequence[str], questions: Sequence[str], similar: Sequence[float] | None) -> list[int]:
    """Return the places of the texts that match a question, best first; without a match, places all over."""
    by_words = _order_by_words(texts, questions)
    if similar is None:
        return by_words or list(range(0, len(texts), max(1, -(-len(texts) // MAX_PASSAGES))))
    by_meaning = sorted(range(len(similar)), key=lambda place: (-similar[place], place))
    return _fused(by_words[:FUSED_PASSAGES], by_meaning[:FUSED_PASSAGES])


def _fused(*orders: Sequence[int]) -> list[int]:
    """Return the places in the order of their reciprocal ranks, added up over all orders.

    https://dl.acm.org/doi/10.1145/1571941.1572114
    """
    scores: dict[int, float] = {}
    for order in orders:
        for rank, place in enumerate(order, 1):
            scores[place] = scores.get(place, 0.0) + 1 / (FIRST_RANKS + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))


def _order_by_words(texts: Sequence[str], questions: Sequence[str]) -> list[int]:
    corpus = Corpus(texts)
    for question in questions:
        scored = corpus.scores(question)
        if any(scored):
            matching = [place for place, score in enumerate(scored) if score]
            return sorted(matching, key=lambda place: (-scored[place], place))
    return []


class Corpus:
    """Texts whose words, those of the search, are split once for several questions, and ranked by BM25."""

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
