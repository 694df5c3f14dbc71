"""Citations: the passages that a reply was written from, and the sources that they come from.

Of an imported reply, also the attempts at it.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Max
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext

from chat.limits import (
    MAX_CITATION_TITLE_CHARS,
    MAX_CITATIONS,
    MAX_DATE_CHARS,
    MAX_PASSAGE_CHARS,
    MAX_URL_CHARS,
)

from .attachment import Attachment


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source of a reply: its title, its address or attachment if it has one, and the passages from it.

    `is_private`: it is a page of this site that only the owner may see, such as another chat.
    """

    title: str
    url: str
    attachment: uuid.UUID | None
    passages: list["Citation"] = field(default_factory=list)

    @property
    def host(self) -> str:
        """The host of its address; "" for a document, or a page of this site."""
        return urlsplit(self.url).hostname or ""

    @property
    def day(self) -> date | None:
        """The day on which the page was changed last, as far as it is known."""
        return parse_date(self.date) if self.date else None

    @property
    def pages(self) -> list[int]:
        """The pages of a document, ascending; empty for a source without pages."""
        return sorted({each.page for each in self.passages if each.page})

    @property
    def is_private(self) -> bool:
        return self.url.startswith("/")

    @property
    def date(self) -> str:
        """The same as `day` as an ISO 8601 date; "" if it is not known."""
        return next((each.date for each in self.passages if each.date), "")


class CitationQuerySet(models.QuerySet["Citation"]):
    def of_messages(
        self, messages: Iterable[uuid.UUID], *, for_others: bool = False
    ) -> dict[uuid.UUID, list["Citation"]]:
        """Return the citations by message, in their order. One query; none without messages.

        `for_others`: leave out the attachments that no message has. They are documents of assistants, which
        not everybody may read who may read the message.
        """
        found: dict[uuid.UUID, list[Citation]] = {}
        wanted = list(messages)
        if not wanted:
            return found
        rows: Any = self.filter(message__in=wanted).order_by("number")
        for each in rows.annotate(sent_with=models.F("attachment__message")) if for_others else rows:
            if for_others and each.sent_with is None:
                each.attachment_id = None
            found.setdefault(each.message_id, []).append(each)
        return found

    def add(self, message: uuid.UUID, citations: Sequence["Citation"]) -> None:
        """Store the citations of a reply under the numbers that follow its last one.

        Those that it has already are left out, so the call may be repeated. Beyond MAX_CITATIONS the rest is
        dropped.
        """
        stored = {each.identity for each in self.filter(message=message)}
        new = [each for each in citations if each.identity not in stored]
        last = self.filter(message=message).aggregate(last=Max("number"))["last"] or 0
        room = max(0, MAX_CITATIONS - last)
        drop_lost_attachments(new[:room])
        for number, each in enumerate(new[:room], last + 1):
            # Without the key of a transaction that failed: by now, another row may have it.
            each.pk, each.message_id, each.number = None, message, number
        Citation.objects.bulk_create(new[:room])


def drop_lost_attachments(citations: Sequence["Citation"]) -> None:
    """Remove attachments that are not stored, or not any more: the rows would be refused. One query."""
    named = {each.attachment_id for each in citations if each.attachment_id}
    there = set(Attachment.objects.filter(pk__in=named).values_list("pk", flat=True)) if named else set()
    for each in citations:
        if each.attachment_id not in there:
            each.attachment_id = None


class Citation(models.Model):
    """A passage that the model was given for a reply. `number` counts from 1 within the reply.

    `title` names the source. `url` is its http or https address, or "", or of another chat of the owner's the
    path: whoever else is shown the reply is not shown this source, see `redact`. `attachment` is the document
    that the passage is from, and `page` the page of it; 0 for none. `date` is the ISO 8601 date of a page's
    last change, or "". `text` is untrusted: any page of the web may have written it.
    """

    message = models.ForeignKey(
        "Message",
        models.CASCADE,
        related_name="citations",
        db_index=False,  # the constraint's index begins with it
    )
    number = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=MAX_CITATION_TITLE_CHARS)
    url = models.CharField(max_length=MAX_URL_CHARS, default="", blank=True)
    attachment = models.ForeignKey(
        "Attachment", models.SET_NULL, null=True, blank=True, related_name="citations"
    )
    page = models.PositiveIntegerField(default=0)
    text = models.CharField(max_length=MAX_PASSAGE_CHARS)
    date = models.CharField(max_length=MAX_DATE_CHARS, default="", db_default="", blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = CitationQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["message", "number"], name="citation_number")]

    def __str__(self) -> str:
        return f"{self.number}. {self.title}"

    @property
    def identity(self) -> tuple[str, str, int, str]:
        """The fields by which a citation differs from the others of its reply."""
        return self.title, self.url, self.page, self.text

    @property
    def source(self) -> tuple[str, str, uuid.UUID | None]:
        """The fields that name the source: a page numbers the sources, and a model cites the numbers."""
        return self.title, self.url, self.attachment_id

    def copy(self, message: uuid.UUID, attachment: uuid.UUID | None) -> "Citation":
        """Return a new citation of another message, with its copy of the attachment; it is not saved."""
        return Citation(
            message_id=message,
            number=self.number,
            title=self.title,
            url=self.url,
            attachment_id=attachment,
            page=self.page,
            text=self.text,
            date=self.date,
            created=self.created,
        )


def by_source(citations: Iterable[Citation]) -> list[CitedSource]:
    """Return the sources in the order of their first citation, each with its passages."""
    found: dict[tuple[str, str, uuid.UUID | None], CitedSource] = {}
    for each in sorted(citations, key=attrgetter("number")):
        source = found.setdefault(each.source, CitedSource(*each.source))
        source.passages.append(each)
    return list(found.values())


def redact(citations: Sequence[Citation]) -> list[Citation]:
    """Remove what only the owner may see from citations that others get. Each source keeps its number."""
    for number, source in enumerate(by_source(citations), 1):
        for each in source.passages if source.is_private else ():
            each.title = gettext("Source %(n)s is not shared") % {"n": number}
            each.url, each.text, each.date = "", "", ""
    return list(citations)


class ImportedRuns(models.Model):
    """The attempts at one imported reply, as JSON, kept for the next export.

    They are not `Run`s, because they were made elsewhere and must not count in usage, costs or statistics.
    """

    message = models.OneToOneField("Message", models.CASCADE, primary_key=True, related_name="imported_runs")
    runs = models.JSONField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.message_id)
