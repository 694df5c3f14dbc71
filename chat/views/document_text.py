"""The page that shows the text of a document, as models get it."""

import asyncio
import uuid
from collections.abc import Hashable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.documents.pages import PageText, some_pages
from chat.exceptions import NotFound
from chat.fair_executor import RENDER_POOL
from chat.models import Attachment

from . import access, attachments

MAX_NUMBER_DIGITS = 5  # of `?page=`
HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Some consecutive pages of a document. `before` and `after`: the pages to which links lead, or None."""

    document: Attachment
    pages: list[PageText]
    before: int | None
    after: int | None


@access.require_methods("GET", "HEAD", page=True)
async def document_text(request: HttpRequest, document: uuid.UUID) -> HttpResponseBase:
    """Show the text of a document of the user's own, or of a conversation that they may review."""
    found = await run_in_db(attachments.readable, request, document)
    part = await run_in_db(read_part, request, found)
    return await respond(request, part, reverse("chat:attachment", args=[found.pk]), request.user.pk)


def read_part(request: HttpRequest, document: Attachment) -> DocumentPart:
    """Return the pages of the document from `?page=` on. Raises NotFound where there is no such page."""
    number = request.GET.get("page", "1")
    is_number = number.isascii() and number.isdigit() and len(number) <= MAX_NUMBER_DIGITS
    first = int(number) if is_number else 0
    if document.is_picture or not 0 < first <= document.pages:
        raise NotFound(_("This page doesn’t exist."))
    found = some_pages(document, first)
    return DocumentPart(document, found.pages, found.before, found.after)


async def respond(
    request: HttpRequest, part: DocumentPart, original: str, reader: Hashable
) -> HttpResponseBase:
    """Return the page. `original`: the address of the uploaded file, "" if it is not shown.

    `reader`: the person, or the client, whose share of the threads this uses.
    """
    return await asyncio.wrap_future(RENDER_POOL.submit(reader, _page, request, part, original))


def _page(request: HttpRequest, part: DocumentPart, original: str) -> HttpResponse:
    response = render(request, "chat/document_text.html", {"part": part, "original": original})
    for name, value in HEADERS.items():
        response[name] = value
    return response
