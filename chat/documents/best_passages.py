"""The passages of documents that match a question best: what is wanted, and the work of ranking them.

Ranking takes up to a second of CPU time, so neither a database thread nor the event loop may do it. A prompt
that needs it is refused with `RankingNeeded`, and built again with the result.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from django.utils.translation import gettext as _

from chat.exceptions import ServiceOverloaded
from chat.fair_executor import FairExecutor
from chat.models import Attachment

from .pages import all_pages, key_of
from .passages import Passage, split
from .ranking import Corpus

MAX_PASSAGES = 40  # of one prompt: more would cost a lot and seldom help
MAX_QUESTIONS = 3  # the latest ones of a branch: each takes time
RANKERS = FairExecutor("ranking", 2)
MAX_WAITING = 8  # prompts of one person
RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """Documents whose best passages are wanted, and questions, latest first, as `Ranked` describes."""

    documents: tuple[Attachment, ...]
    questions: tuple[str, ...]

    @classmethod
    def of(cls, documents: Sequence[Attachment], questions: Sequence[str]) -> "Wanted":
        return cls(tuple(documents), tuple(questions[:MAX_QUESTIONS]))


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best passages for `wanted`, best first, each with its document.

    The first question whose words are in the documents decides. Without one, they are passages all over.
    """

    wanted: Wanted
    passages: tuple[tuple[Attachment, Passage], ...]


class RankingNeeded(Exception):
    """The prompt needs the best passages of long documents. Rank them, then build it again."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__(f"{len(wanted.documents)} documents have to be ranked")
        self.wanted = wanted


def submit(person: int, wanted: Wanted) -> "Future[Ranked]":
    """Rank in a thread, when it is this person's turn. Raises ServiceOverloaded."""
    if RANKERS.waiting(person) >= MAX_WAITING:
        words = _("You ask too much about long documents at once. Wait until this is answered.")
        raise ServiceOverloaded(words, retry_after=RETRY_SECONDS)
    return RANKERS.submit(person, rank, wanted)


def rank(wanted: Wanted) -> Ranked:
    """Return the best passages. Reads the documents; blocks, for a second where they are very long."""
    pages = all_pages(wanted.documents)
    passages = [
        (each, one) for each in wanted.documents for page in pages[key_of(each)] for one in split(page)
    ]
    best = _order([one.text for _each, one in passages], wanted.questions)[:MAX_PASSAGES]
    return Ranked(wanted, tuple(passages[place] for place in best))


def _order(texts: Sequence[str], questions: Sequence[str]) -> list[int]:
    """Return the places of the texts that match a question, best first; without a match, places all over."""
    corpus = Corpus(texts)
    for question in questions:
        scored = corpus.scores(question)
        if any(scored):
            matching = [place for place, score in enumerate(scored) if score]
            return sorted(matching, key=lambda place: (-scored[place], place))
    step = max(1, -(-len(texts) // MAX_PASSAGES))
    return list(range(0, len(texts), step))
