"""Search of a person's own conversations, in pages of results, the best first.

Matches are ranked by a variant of BM25, with a bonus for titles, whole phrases and recent texts. Each is
shown as a snippet with the positions of the words to highlight.
"""

import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from chat.models import Message, SearchBuild

from . import matches, words
from .matches import WINDOW_MATCHES, Match
from .query import Query, Term

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
SNIPPET_CHARS = 160
BEFORE_CHARS = 40  # shown before the first match
READ_CHARS = 20_000  # of the text that are split into words if no match is found by its letters
MAX_PATTERN_WORDS = 16  # of a phrase in the regular expression, whose cost grows with each
SPACES = re.compile(r"\s+")


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
class Snippet:
    """A part of a text. `marks`: (start, end) of each match in it, in code points."""

    text: str
    marks: list[tuple[int, int]]


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


def snippet(text: str, terms: Sequence[Term]) -> Snippet:
    """Return the part of the text around the first match, on one line."""
    start = _snippet_start(text, terms)
    piece = text[start : start + 4 * SNIPPET_CHARS]
    line = SPACES.sub(" ", piece).strip()
    cut = line[:SNIPPET_CHARS]
    if len(line) > SNIPPET_CHARS:
        cut = (cut.rsplit(" ", 1)[0] if " " in cut[SNIPPET_CHARS // 2 :] else cut) + "…"
    if start:
        cut = f"…{cut}"
    return Snippet(cut, marks(cut, terms))


def marks(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return (start, end) of each match in a short text; overlapping matches are merged."""
    found = list(words.places(text))
    spans = sorted(span for term in terms for span in _literal(text, term) or _spans(found, term))
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined or _mark_inside_word(text, terms)


def _literal(text: str, term: Term) -> list[tuple[int, int]]:
    """Return (start, end) of each place where the term stands as it was typed, with its symbols."""
    if not term.literal:
        return []
    return [found.span() for found in re.finditer(re.escape(term.literal), text, re.IGNORECASE)]


def _spans(found: Sequence[words.WordPosition], term: Term) -> Iterator[tuple[int, int]]:
    for at in range(len(found) - len(term.words) + 1):
        if _matches_at(found, at, term):
            yield found[at].start, found[at + len(term.words) - 1].end


def _matches_at(found: Sequence[words.WordPosition], at: int, term: Term) -> bool:
    last = len(term.words) - 1
    for offset, word in enumerate(term.words):
        present = found[at + offset].word
        has_prefix = term.prefix and offset == last and present.startswith(word)
        if present != word and not has_prefix:
            return False
    return True


def _mark_inside_word(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return the first match that is a part of a longer word, such as `effect` in `useEffect`."""
    for term in terms:
        if found := re.search(re.escape(" ".join(term.words)), text, re.IGNORECASE):
            return [found.span()]
    return []


def _snippet_start(text: str, terms: Sequence[Term]) -> int:
    """Return the position of a word shortly before the first match."""
    match = _first_match(text, terms)
    if match <= BEFORE_CHARS:
        return 0
    start = match - BEFORE_CHARS
    space = text.find(" ", start, match)
    return start if space < 0 else space + 1


def _first_match(text: str, terms: Sequence[Term]) -> int:
    """Return the position of the first match; 0 if none is found.

    A regular expression is tried first, because it is fast. Matches that differ from the term in accents or
    compatibility forms are found by splitting the beginning of the text into words.
    """
    places = []
    for term in terms:
        if term.literal and (found := re.search(re.escape(term.literal), text, re.IGNORECASE)):
            places.append(found.start())
            continue
        pattern = r"[\W_]*".join(map(re.escape, term.words[:MAX_PATTERN_WORDS]))
        edge = "" if term.prefix or len(term.words) > MAX_PATTERN_WORDS else r"(?![^\W_])"
        if term.words[0].isascii() and (
            found := re.search(rf"(?<![^\W_]){pattern}{edge}", text, re.IGNORECASE)
        ):
            places.append(found.start())
    if places:
        return min(places)
    start = text[:READ_CHARS]
    if start.isascii():
        return max(0, min((start.lower().find(term.words[0]) for term in terms), default=0))
    found_marks = marks(start, terms)
    return found_marks[0][0] if found_marks else 0
