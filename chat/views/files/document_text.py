"""The page that shows the text of a document, as models get it."""

import uuid
from collections.abc import Hashable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import NotFound
from chat.files.passages.pages import SomePages, some_pages
from chat.models import Attachment

from ..requests import access
from ..requests.request_fields import query_number
from . import attachments

DOCUMENT_HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """The part of a document that one page of the site shows."""

    document: Attachment
    shown: SomePages


@access.require_methods("GET", "HEAD", page=True)
async def document_text(request: HttpRequest, document: uuid.UUID) -> HttpResponseBase:
    """Show the text of a document that `attachments.readable` allows."""
    found = await run_in_db(attachments.readable, request, document)
    part = await run_in_db(read_part, request, found)
    return await respond(request, part, reverse("chat:attachment", args=[found.pk]), request.user.pk)


def read_part(request: HttpRequest, document: Attachment) -> DocumentPart:
    """Return the pages of the document from `?page=` on, or the part `?part=` of a long one.

    Raises NotFound where there is no such page or part.
    """
    first, part = query_number(request, "page", 1) or 0, query_number(request, "part", 1)
    if document.is_picture or not 0 < first <= document.pages or not part:
        raise _missing()
    shown = some_pages(document, first, part)
    if not shown.pages:
        raise _missing()
    return DocumentPart(document, shown)


def _missing() -> NotFound:
    return NotFound(_("This page doesn’t exist."))


async def respond(
    request: HttpRequest, part: DocumentPart, original: str, person: Hashable
) -> HttpResponseBase:
    """Return the page. `original`: the address of the uploaded file, "" if it is not shown.

    `person`: a user, or a client who is none, whose share of the threads this uses.
    """
    return await RENDER_POOL.run(person, _page, request, part, original)


def _page(request: HttpRequest, part: DocumentPart, original: str) -> HttpResponse:
    response = render(request, "chat/document_text.html", {"part": part, "original": original})
    for name, value in DOCUMENT_HEADERS.items():
        response[name] = value
    return response
