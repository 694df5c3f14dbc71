"""The stored text of documents, by page."""

import math
from collections.abc import Collection, Iterable
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
    after = PagePart(number, part + 1) if part < parts else _place_after(rows, shown[-1])
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


def _place_after(rows: Rows, last: int) -> PagePart | None:
    return PagePart(last + 1) if rows.filter(number__gt=last).exists() else None


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
