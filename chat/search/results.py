"""Search of a person's own conversations: each once, with its best passage, the best conversation first.

Matches are ranked by a variant of BM25, with a bonus for titles, whole phrases and recent texts.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from chat.models import Message, SearchBuild

from . import matches
from .matches import MAX_CHATS, MAX_TITLES, Match
from .query import Query
from .snippets import Snippet, marks, snippet

RESULTS_PER_PAGE = 20
MAX_WINDOWS = 4  # read for one page: one may have few conversations, or filters drop all its matches
MAX_OFFSET = MAX_TITLES + MAX_CHATS  # the first window has titles and messages
BM25_SATURATION = 1.2  # BM25's k1: further occurrences of a word count less and less
TYPICAL_CHARS = 1_000  # a longer text needs more occurrences for the same score
TITLE_SCORE = 3.0  # bonus of a title
# Bonus for all terms in the order in which they were typed, and for a term with its symbols.
WHOLE_SCORE = 1.0
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
    """A found conversation: its title and its best message, None if only the title was found.

    `more`: how many further messages of it were found. `has_more`: there may be still more of them.
    """

    conversation: uuid.UUID
    message: uuid.UUID | None
    title: Snippet
    snippet: Snippet
    at: datetime
    more: int = 0
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class Results:
    """A page of results. `building`: older messages are not indexed yet, so results may be missing."""

    results: list[Result]
    next: Cursor | None
    building: bool


def search(owner: int, query: Query, cursor: Cursor | None = None) -> Results:
    """Return a page of conversations: of the newest window in the order of their rank, then of older ones."""
    building = SearchBuild.objects.is_running()
    if query.is_empty:
        return Results([], None, building)
    at: Cursor | None = cursor or Cursor(matches.newest_document() + 1)
    page: list[Result] = []
    for _ in range(MAX_WINDOWS):
        if at is None or len(page) == RESULTS_PER_PAGE:
            break
        found, at = _page(owner, query, at, RESULTS_PER_PAGE - len(page))
        page += found
    return Results(page, at, building)


def search_in(owner: int, query: Query, conversation: uuid.UUID, cursor: Cursor | None = None) -> Results:
    """Return a page of the matching messages of one conversation, newest first."""
    building = SearchBuild.objects.is_running()
    if query.is_empty:
        return Results([], None, building)
    found, below = matches.in_conversation(
        owner, query, conversation, cursor.below if cursor else None, RESULTS_PER_PAGE
    )
    after = None if below is None else Cursor(below, with_titles=False)
    return Results([_result([match], query) for match in found], after, building)


def _page(owner: int, query: Query, cursor: Cursor, most: int) -> tuple[list[Result], Cursor | None]:
    """Return at most so many conversations of a window, and the cursor of what follows."""
    window = matches.window(owner, query, cursor.below, is_first=cursor.with_titles)
    end = cursor.offset + most
    found = ranked(window.matches, query, timezone.now())
    page = [
        _result(of, query, window.further(of), has_more=window.next is not None)
        for of in found[cursor.offset : end]
    ]
    if end < len(found):
        return page, Cursor(cursor.below, end, cursor.with_titles)
    return page, None if window.next is None else Cursor(window.next, with_titles=False)


def _result(found: Sequence[Match], query: Query, more: int = 0, *, has_more: bool = False) -> Result:
    """Return the result for the matches of a conversation, the best first."""
    title = found[0].title
    best = next((match for match in found if match.message), None)
    if best is None:
        shown = Snippet(title, marks(title, query.terms))
        return Result(found[0].conversation, None, shown, Snippet("", []), found[0].at)
    is_found = any(match.message is None for match in found)
    shown = Snippet(title, marks(title, query.terms) if is_found else [])
    return Result(
        best.conversation, best.message, shown, _snippet(best, query), best.at, more, has_more and more > 0
    )


def _snippet(match: Match, query: Query) -> Snippet:
    is_markdown = match.role == Message.Role.ASSISTANT
    found = snippet(match.text, query.terms, is_markdown=is_markdown)
    if found.marks or not query.terms or len(match.text) < matches.RANKED_CHARS or not match.message:
        return found
    text = Message.objects.values_list("text", flat=True).get(pk=match.message)
    return snippet(text, query.terms, is_markdown=is_markdown)


def ranked(found: Iterable[Match], query: Query, now: datetime) -> list[list[Match]]:
    """Return the matches of each conversation, the best match and the best conversation first."""
    terms = [" ".join(term.words) for term in query.terms]
    literals = [term.literal for term in query.terms if term.literal]
    scored = sorted(
        ((_score(match, terms, literals, now), match) for match in found), key=lambda pair: -pair[0]
    )
    by_conversation: dict[uuid.UUID, list[Match]] = {}
    for _, match in scored:
        by_conversation.setdefault(match.conversation, []).append(match)
    return list(by_conversation.values())


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
