"""The stored text of documents: by page, and in passages, from which the best are chosen."""

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from django.db.models import Q, QuerySet
from django.db.models.functions import Length, Substr

from chat.models import Attachment, DocumentPage

Rows: TypeAlias = "QuerySet[DocumentPage]"  # the pages of one document
TextKey: TypeAlias = tuple[str, str, str]
TEXT_COLUMNS = ("file_id", "media_type", "reading")  # of a key, in rows that belong to a text

# On one page of the site. A longer page of a document is shown in parts.
SHOWN_PAGES = 50
PAGE_CHARS = 100_000
# A part ends at a break so close before its limit, rather than in the middle of a word.
MAX_BREAK_SEARCH_CHARS = 1_000
CUTS = ("\n", " ")  # best first
PASSAGE_CHARS = 1_500
OVERLAP_CHARS = 150
BREAKS = ("\n\n", "\n", ". ", " ")  # where a passage ends rather than in the middle of a word, best first


@dataclass(frozen=True, slots=True)
class PageText:
    """A page of a document, numbered from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a page, both numbered from 1."""

    page: int
    part: int = 1

    @property
    def query(self) -> str:
        """The query string of the page of the site that begins here."""
        return f"?page={self.page}" + (f"&part={self.part}" if self.part > 1 else "")


@dataclass(frozen=True, slots=True)
class SomePages:
    """Consecutive pages, or one part of a long page.

    `part` and `parts`: its number, and how many its page has. `before` and `after`: the places at which what
    is around these begins, or None.
    """

    pages: list[PageText]
    before: PagePart | None = None
    after: PagePart | None = None
    part: int = 1
    parts: int = 1


def all_pages(documents: Collection[Attachment]) -> dict[TextKey, list[PageText]]:
    """Return the pages of documents by `key_of`. One query; none without documents."""
    found: dict[TextKey, list[PageText]] = {key_of(each): [] for each in documents}
    if found:
        wanted = Q(pk__in=())
        for each in documents:
            wanted |= Q(**columns_of(each))
        rows = DocumentPage.objects.filter(wanted).order_by(*TEXT_COLUMNS, "number")
        for *key, number, text in rows.values_list(*TEXT_COLUMNS, "number", "text"):
            found[tuple(key)].append(PageText(number, text))
    return found


def key_of(document: Attachment) -> TextKey:
    """Return the key that documents with the same text share."""
    return document.file_id, document.media_type, document.reading


def columns_of(document: Attachment) -> dict[str, str]:
    """Return the columns of rows that belong to the text of a document."""
    return dict(zip(TEXT_COLUMNS, key_of(document), strict=True))


def some_pages(document: Attachment, first: int, part: int = 1) -> SomePages:
    """Return the pages from number `first` on that a page of the site may show; none if there are none.

    `part`: of a page that is too long to be shown whole. No query reads more of it than this part.
    """
    rows = DocumentPage.objects.filter(**columns_of(document))
    sized = list(_sizes(rows.filter(number__gte=first).order_by("number")))
    if not sized or part > parts_of(sized[0][1]):
        return SomePages([])
    number, length = sized[0]
    parts = parts_of(length)
    shown = _shown(sized)
    pages = [_part(rows, number, part)] if parts > 1 else _pages(rows, shown)
    before = PagePart(number, part - 1) if part > 1 else _place_before(rows, first)
    after = PagePart(number, part + 1) if part < parts else None
    if after is None and rows.filter(number__gt=shown[-1]).exists():
        after = PagePart(shown[-1] + 1)
    return SomePages(pages, before, after, part, parts)


def parts_of(length: int) -> int:
    """Return in how many parts a page of so many characters is shown."""
    return max(1, math.ceil(length / PAGE_CHARS))


def _sizes(rows: Rows) -> Iterable[tuple[int, int]]:
    """Return the numbers and lengths of as many pages as may matter."""
    return rows.values_list("number", Length("text"))[: SHOWN_PAGES + 1]


def _pages(rows: Rows, shown: list[int]) -> list[PageText]:
    found = rows.filter(number__range=(shown[0], shown[-1])).order_by("number")
    return [PageText(number, text) for number, text in found.values_list("number", "text")]


def _place_before(rows: Rows, first: int) -> PagePart | None:
    sized = list(_sizes(rows.filter(number__lt=first).order_by("-number")))
    if not sized:
        return None
    return PagePart(_shown(sized)[-1], parts_of(sized[0][1]))


def _part(rows: Rows, number: int, part: int) -> PageText:
    """Return a part of a page. Each cut depends only on the text around it."""
    limit = (part - 1) * PAGE_CHARS
    start = max(limit - MAX_BREAK_SEARCH_CHARS, 0)
    piece = Substr("text", start + 1, limit - start + PAGE_CHARS + 1)  # one more: whether anything follows
    text = rows.filter(number=number).values_list(piece, flat=True).get()
    end = limit - start + PAGE_CHARS
    return PageText(number, text[_cut(text, limit - start) : _cut(text, end) if len(text) > end else end])


def _cut(text: str, limit: int) -> int:
    """Return where the text before `limit` ends: after the last break that is close, or at the limit."""
    for mark in CUTS:
        found = text.rfind(mark, max(limit - MAX_BREAK_SEARCH_CHARS, 0), limit)
        if found >= 0:
            return found + len(mark)
    return limit


def _shown(sized: list[tuple[int, int]]) -> list[int]:
    """Return the numbers of the first pages that fit together; at least one. `sized`: numbers and lengths."""
    found: list[int] = []
    room = PAGE_CHARS
    for number, length in sized[:SHOWN_PAGES]:
        room -= length
        if room < 0 and found:
            break
        found.append(number)
    return found


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
