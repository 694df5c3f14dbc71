"""Ranking of matches by a variant of BM25, with a bonus for titles, whole phrases and recent texts."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from .matches import Match
from .query import Query

BM25_SATURATION = 1.2  # BM25's k1: further occurrences of a word count less and less
TYPICAL_CHARS = 1_000  # a longer text needs more occurrences for the same score
TITLE_SCORE = 3.0  # bonus of a title
WHOLE_SCORE = (
    1.0  # bonus for all terms in the order in which they were typed, and for a term with its symbols
)
HALF_LIFE_DAYS = 30  # at this age recency counts half


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
