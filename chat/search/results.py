"""Search of a person's own conversations, in pages of results, the best first.

Matches are ranked by a variant of BM25, with a bonus for titles, whole phrases and recent texts.
"""

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from chat.models import Message, SearchBuild

from . import matches
from .matches import WINDOW_MATCHES, Match
from .query import Query
from .snippets import Snippet, snippet

RESULTS_PER_PAGE = 20
MAX_WINDOWS = 4  # read for one page: filters may drop all matches of a window
MAX_OFFSET = 2 * WINDOW_MATCHES  # the first window has titles and messages
BM25_SATURATION = 1.2  # BM25's k1: further occurrences of a word count less and less
TYPICAL_CHARS = 1_000  # a longer text needs more occurrences for the same score
TITLE_SCORE = 3.0  # bonus of a title
WHOLE_SCORE = (
    1.0  # bonus for all terms in the order in which they were typed, and for a term with its symbols
)
HALF_LIFE_DAYS = 30  # at this age recency counts half


@dataclass(frozen=True, slots=True)
class Cursor:
    """The start of a page: the window of documents with ids below `below`, and the offset in its ranking.

    `with_titles`: this is the first window, whose ranking includes the matching titles.
    """

    below: int
    offset: int = 0
    with_titles: bool = True

    def __str__(self) -> str:
        return f"{self.below:x}.{self.offset}{'t' if self.with_titles else ''}"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Return the cursor that `str` wrote. Raises ValueError."""
        below, dot, offset = text.removesuffix("t").partition(".")
        found = cls(int(below, 16), int(offset), text.endswith("t"))
        if (
            not dot
            or str(found) != text
            or not 0 <= found.below < 2**62
            or not 0 <= found.offset <= MAX_OFFSET
        ):
            raise ValueError("not a cursor")
        return found


@dataclass(frozen=True, slots=True)
class Result:
    """A found message; or a conversation found by its title, if `message` is None."""

    conversation: uuid.UUID
    message: uuid.UUID | None
    title: str
    snippet: Snippet
    role: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Results:
    """A page of results. `building`: older messages are not indexed yet, so results may be missing."""

    results: list[Result]
    next: Cursor | None
    building: bool


def search(owner: int, query: Query, cursor: Cursor | None = None) -> Results:
    """Return a page of results: those of the newest window in the order of their rank, then of older ones."""
    building = SearchBuild.objects.is_running()
    if query.is_empty:
        return Results([], None, building)
    at: Cursor | None = cursor or Cursor(matches.newest_document() + 1)
    page: list[Match] = []
    for _ in range(MAX_WINDOWS):
        if at is None or page:
            break
        page, at = _page(owner, query, at)
    return Results([_result(match, query) for match in page], at, building)


def _page(owner: int, query: Query, cursor: Cursor) -> tuple[list[Match], Cursor | None]:
    """Return the matches of a page, and the cursor of the one after it."""
    window = (matches.titles if query.in_title else matches.messages)(owner, query, cursor.below)
    found = window.matches
    if cursor.with_titles and not query.in_title:
        found = [*matches.titles(owner, query, cursor.below).matches, *found]
    end = cursor.offset + RESULTS_PER_PAGE
    page = ranked(found, query, timezone.now())[cursor.offset : end]
    if end < len(found):
        return page, Cursor(cursor.below, end, cursor.with_titles)
    return page, None if window.next is None else Cursor(window.next, with_titles=False)


def _result(match: Match, query: Query) -> Result:
    text = match.text
    found = snippet(text, query.terms)
    if not found.marks and match.message and query.terms and len(text) == matches.RANKED_CHARS:
        text = Message.objects.values_list("text", flat=True).get(pk=match.message)
        found = snippet(text, query.terms)
    return Result(match.conversation, match.message, match.title, found, match.role, match.at)


def ranked(matches: Iterable[Match], query: Query, now: datetime) -> list[Match]:
    """Return the matches, best first. The nth match of a conversation has its score divided by n."""
    terms = [" ".join(term.words) for term in query.terms]
    literals = [term.literal for term in query.terms if term.literal]
    scored = sorted(
        ((_score(match, terms, literals, now), match) for match in matches), key=lambda pair: -pair[0]
    )
    seen: Counter[object] = Counter()
    spread = []
    for score, match in scored:
        seen[match.conversation] += 1
        spread.append((score / seen[match.conversation], match))
    return [match for _, match in sorted(spread, key=lambda pair: -pair[0])]


def _score(match: Match, terms: list[str], literals: list[str], now: datetime) -> float:
    text = match.text.casefold()
    length = 0.25 + 0.75 * len(text) / TYPICAL_CHARS
    score = 1.0
    for term in terms:
        count = text.count(term) or text.count(term.partition(" ")[0])
        score += count / (count + BM25_SATURATION * length)
    score += WHOLE_SCORE * sum(literal in text for literal in literals)
    if len(terms) > 1 and " ".join(terms) in text:
        score += WHOLE_SCORE
    if match.message is None:
        score += TITLE_SCORE
    age = max(0.0, (now - match.at).total_seconds() / 86_400)
    return score * (0.5 + 0.5 * HALF_LIFE_DAYS / (HALF_LIFE_DAYS + age))
