"""Passages: short pieces of a document's pages, with a little overlap, from which the best are chosen."""

from collections.abc import Iterator
from dataclasses import dataclass

from .pages import PageText

PASSAGE_CHARS = 1_500
OVERLAP_CHARS = 150
BREAKS = ("\n\n", "\n", ". ", " ")  # where a passage ends rather than in the middle of a word, best first


@dataclass(frozen=True, slots=True)
class DocumentPassage:
    """A piece of page `page` of a document: the code points from `start` to `end`."""

    page: int
    start: int
    end: int
    text: str


def split(page: PageText) -> Iterator[DocumentPassage]:
    """Yield the passages of a page in their order, without those that are only white space."""
    start, text = 0, page.text
    while start < len(text):
        end = _end(text, start)
        if text[start:end].strip():
            yield DocumentPassage(page.number, start, end, text[start:end])
        if end == len(text):
            return
        start = max(end - OVERLAP_CHARS, start + 1)


def _end(text: str, start: int) -> int:
    """Return where the passage that begins at `start` ends: at the best break in its last third."""
    most = start + PASSAGE_CHARS
    if most >= len(text):
        return len(text)
    least = start + PASSAGE_CHARS * 2 // 3
    for mark in BREAKS:
        found = text.rfind(mark, least, most)
        if found >= 0:
            return found + len(mark)
    return most


def joined(passages: list[DocumentPassage]) -> list[DocumentPassage]:
    """Return passages of one document, sorted by page and place, with those that touch joined."""
    found: list[DocumentPassage] = []
    for each in passages:
        last = found[-1] if found else None
        if last and last.page == each.page and each.start <= last.end:
            text = last.text + each.text[last.end - each.start :]
            found[-1] = DocumentPassage(each.page, last.start, each.end, text)
        else:
            found.append(each)
    return found
