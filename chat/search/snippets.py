"""Snippets: the part of a text around its first match without Markdown, and the places to highlight in it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chat.rendering.plain_text import FENCE, plain

from . import words
from .query import Term

SNIPPET_CHARS = 160
BEFORE_CHARS = 40  # shown before the first match
CONTEXT_CHARS = 400  # read before the first match, for the beginning of its line
READ_CHARS = 20_000  # of the text that are split into words if no match is found by its letters
MAX_PATTERN_WORDS = 16  # of a phrase in the regular expression, whose cost grows with each
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a text. `marks`: (start, end) of each match in it, in code points."""

    text: str
    marks: list[tuple[int, int]]

    @property
    def pieces(self) -> Iterator[tuple[str, bool]]:
        """Yield (text, is it a match) of each piece."""
        end = 0
        for start, stop in self.marks:
            yield self.text[end:start], False
            yield self.text[start:stop], True
            end = stop
        yield self.text[end:], False


def snippet(text: str, terms: Sequence[Term], *, is_markdown: bool = False) -> Snippet:
    """Return the part of the text around the first match, on one line.

    Of Markdown the marks are left out, unless the match is in them, as in the address of a link.
    """
    match = _first_match(text, terms)
    if is_markdown:
        begin = text.rfind("\n", max(0, match - CONTEXT_CHARS), match) + 1 or max(0, match - CONTEXT_CHARS)
        end = match + 4 * SNIPPET_CHARS
        cleaned = plain(text[begin:end], in_code=len(FENCE.findall(text, 0, begin)) % 2 == 1)
        found = _cut(cleaned, _first_match(cleaned, terms), terms, is_cut=begin > 0)
        if found.marks or not terms:
            return found
    return _cut(text, match, terms)


def _cut(text: str, match: int, terms: Sequence[Term], *, is_cut: bool = False) -> Snippet:
    start = _word_before(text, match)
    line = SPACES.sub(" ", text[start : start + 4 * SNIPPET_CHARS]).strip()
    cut = line[:SNIPPET_CHARS]
    if len(line) > SNIPPET_CHARS:
        cut = (cut.rsplit(" ", 1)[0] if " " in cut[SNIPPET_CHARS // 2 :] else cut) + "…"
    if start or is_cut:
        cut = f"…{cut}"
    return Snippet(cut, marks(cut, terms))


def marks(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return (start, end) of each match in a short text; overlapping matches are merged."""
    if not terms:
        return []
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


def _word_before(text: str, match: int) -> int:
    """Return the position of a word shortly before a match."""
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
