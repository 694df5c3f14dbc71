"""The stored text of documents, by page."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Length

from chat.models import Attachment, DocumentPage

# On one page of the site, unless a single page of the document has more.
SHOWN_PAGES = 50
SHOWN_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class PageText:
    """A page of a document, numbered from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class SomePages:
    """Consecutive pages. `before` and `after`: the pages at which the parts around these begin, or None."""

    pages: list[PageText]
    before: int | None
    after: int | None


def all_pages(documents: Collection[Attachment]) -> dict[tuple[str, str], list[PageText]]:
    """Return the pages of documents by `key_of`. One query; none without documents."""
    found: dict[tuple[str, str], list[PageText]] = {key_of(each): [] for each in documents}
    if found:
        wanted = Q(pk__in=())
        for sha256, media_type in found:
            wanted |= Q(file=sha256, media_type=media_type)
        rows = DocumentPage.objects.filter(wanted).order_by("file", "media_type", "number")
        for sha256, media_type, number, text in rows.values_list("file", "media_type", "number", "text"):
            found[sha256, media_type].append(PageText(number, text))
    return found


def key_of(document: Attachment) -> tuple[str, str]:
    """Return the key that documents with the same text share."""
    return document.sha256, document.media_type


def some_pages(document: Attachment, first: int) -> SomePages:
    """Return the pages from number `first` on that a page of the site may show; none if there is no such."""
    rows = DocumentPage.objects.filter(file=document.sha256, media_type=document.media_type)
    after = rows.filter(number__gte=first).order_by("number")
    before = rows.filter(number__lt=first).order_by("-number")
    shown = _shown(list(after.values_list("number", Length("text"))[: SHOWN_PAGES + 1]))
    earlier = _shown(list(before.values_list("number", Length("text"))[: SHOWN_PAGES + 1]))
    if not shown:
        return SomePages([], None, None)
    pages = after.filter(number__lte=shown[-1]).values_list("number", "text")
    has_more = rows.filter(number__gt=shown[-1]).exists()
    return SomePages(
        [PageText(number, text) for number, text in pages],
        earlier[-1] if earlier else None,
        shown[-1] + 1 if has_more else None,
    )


def _shown(sized: list[tuple[int, int]]) -> list[int]:
    """Return the numbers of the first pages that fit together; at least one. `sized`: numbers and lengths."""
    found: list[int] = []
    room = SHOWN_CHARS
    for number, length in sized[:SHOWN_PAGES]:
        room -= length
        if room < 0 and found:
            break
        found.append(number)
    return found
