"""Views of attachments: the upload, the file, the alternative text, the removal of what was not sent.

A file is sent under headers that let a browser do little with it.
"""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Hashable
from contextlib import closing
from typing import IO, Any
from urllib.parse import quote

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext as _

from chat.accounts.access_log import record_once
from chat.catalog import catalog
from chat.conversations.turns.attached import NO_MODEL_SEES
from chat.db.executor import run_in_db, write_lock
from chat.db.fair_executor import RENDER_POOL
from chat.engine.engine import get_engine
from chat.exceptions import BadRequest, Forbidden, ModelCannotSee, NotFound, UnsupportedMediaType
from chat.files import files, reading, uploads
from chat.files.decoding import EncodedPicture
from chat.files.deletion import discard
from chat.files.extraction import Extracted, NeedsConversion, convert
from chat.files.problems import AlreadySent, TooLarge, TooManyAtOnce
from chat.files.reading import READERS
from chat.files.receiving import FILE_INPUT, FormFiles, ReceivedFile, empty_file, form_errors
from chat.library import assistant_documents
from chat.limits import MAX_ALT_CHARS
from chat.models import Attachment, User
from chat.models.attachment import EXTENSIONS
from chat.upstream.doors import for_pictures

from ..requests import access, request_fields
from ..requests.errors import NO_CSRF

SECONDS_TO_KEEP = 86_400
DOWNLOAD_PIECE_BYTES = 65_536
ATTACHMENT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
}
DOWNLOAD_TYPE = "application/octet-stream"  # of a document, which a browser must save and never open
MAX_WAITING_UPLOADS = 8  # uploads of one person that wait for a reader


async def respond(request: HttpRequest, attachment: Attachment, person: Hashable) -> HttpResponseBase:
    """Return the stored bytes: a picture to be shown, a document to be saved.

    `person`: a user, or a client who is none, whose share of the threads this uses.
    """
    etag = quote_etag(attachment.sha256)
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None:
        kind = attachment.media_type if attachment.is_picture else DOWNLOAD_TYPE
        file = await files.STORAGE_POOL.run(person, _opened, attachment.sha256)
        if file.size > DOWNLOAD_PIECE_BYTES and request.method != "HEAD":
            response = StoredFile(file, person, kind)
        else:
            with file:
                response = HttpResponse(file.read(), content_type=kind)
        response["Content-Disposition"] = _disposition(attachment)
    response["ETag"] = etag
    response["Cache-Control"] = f"private, max-age={SECONDS_TO_KEEP}, immutable"
    for name, value in ATTACHMENT_HEADERS.items():
        response[name] = value
    return response


def _disposition(attachment: Attachment) -> str:
    if attachment.is_picture:
        how, plain = "inline", f"picture.{EXTENSIONS[attachment.media_type]}"
    else:
        how, plain = "attachment", "document"
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(attachment.name or plain, safe='')}"


class StoredFile(StreamingHttpResponse):
    """A stored file, read in pieces, so that a slow client does not keep all of it in memory."""

    def __init__(self, file: "File[bytes]", person: Hashable, content_type: str) -> None:
        super().__init__(_pieces(file, person), content_type=content_type)
        self["Content-Length"] = str(file.size)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


async def _pieces(file: "File[bytes]", person: Hashable) -> AsyncIterator[bytes]:
    while piece := await files.STORAGE_POOL.run(person, file.read, DOWNLOAD_PIECE_BYTES):
        yield piece


def _opened(sha256: str) -> "File[bytes]":
    try:
        return files.opened(sha256)
    except FileNotFoundError as error:
        raise NotFound(_("This file is missing.")) from error


@access.require_methods("POST")
async def upload(request: HttpRequest) -> HttpResponseBase:
    """Receive, read and store one picture or document; respond with what `describe` returns."""
    user = await run_in_db(get_uploader, request)
    if READERS.waiting(user.pk) >= MAX_WAITING_UPLOADS:
        words = _("Too many files at once. Wait until these are added.")
        raise TooManyAtOnce(words, retry_after=5)
    # Parsing a large form takes a while, so neither the event loop nor a database thread may do it.
    received = await RENDER_POOL.run(user.pk, _receive, request)
    with closing(received.file):
        stored = await store_upload(user, received)
    return JsonResponse(describe(stored), status=201)


# Django's middleware would read the form on the event loop, before its handler is set. `_receive` checks the
# token instead.
upload.csrf_exempt = True  # type: ignore[attr-defined]


async def store_upload(
    user: User, received: ReceivedFile, *, documents_only: bool = False, key: uuid.UUID | None = None
) -> Attachment:
    """Read the file and store it; `key` as in `uploads.store_picture`. Raises the refusals of an upload."""
    file, name = received.file, received.name
    found = await _read(user, received)
    if documents_only and isinstance(found, EncodedPicture):
        raise assistant_documents.picture_refused(name)
    if isinstance(found, EncodedPicture):
        await run_in_db(_check_sight, user)
    # Shielded: what is stored gets its row.
    if isinstance(found, EncodedPicture):
        storing = files.STORAGE_POOL.submit(user.pk, uploads.store_picture, user, name, found, key)
    else:
        # The file is closed when the request ends, also before this has run.
        kept = os.fdopen(os.dup(file.fileno()), "rb")
        storing = files.STORAGE_POOL.submit(user.pk, _store_document, user, name, kept, found, key)
    stored = await asyncio.shield(asyncio.wrap_future(storing))
    if not stored.is_picture:
        (await get_engine()).document_ranking.embed_soon(stored)
    return stored


def _check_sight(user: User) -> None:
    """Raise ModelCannotSee if no model that this person may use sees."""
    if for_pictures(catalog.catalog_for_user(catalog.current.get(), user)) is None:
        raise ModelCannotSee(_(NO_MODEL_SEES))


async def _read(user: User, received: ReceivedFile) -> EncodedPicture | Extracted:
    file = received.file
    try:
        return await READERS.run(user.pk, reading.read, file, received.name)
    except NeedsConversion as needed:
        return await convert((await get_engine()).client, user.pk, file, needed)


def _store_document(
    user: User, name: str, file: IO[bytes], found: Extracted, key: uuid.UUID | None
) -> Attachment:
    with file:
        return uploads.store_document(user, name, file, found, key)


@access.require_methods("GET", "HEAD", "POST", "PATCH", "DELETE")
async def one(request: HttpRequest, attachment: uuid.UUID) -> HttpResponseBase:
    """Send the file; set its alternative text; delete it while it is not sent."""
    if request.method in ("GET", "HEAD"):
        found = await run_in_db(readable, request, attachment)
        return await respond(request, found, request.user.pk)
    change = _delete if request.method == "DELETE" else _set_alt
    return await run_in_db(change, request, attachment)


def describe(attachment: Attachment) -> dict[str, Any]:
    """Return what the page needs to know of an attachment, for JSON."""
    facts: dict[str, Any] = {
        "id": str(attachment.pk),
        "kind": "picture" if attachment.is_picture else "document",
        "url": reverse("chat:attachment", args=[attachment.pk]),
        "name": attachment.name,
        "alt": attachment.alt,
        "media_type": attachment.media_type,
        "width": attachment.width,
        "height": attachment.height,
        "size": attachment.size,
    }
    if not attachment.is_picture:
        facts |= {
            "pages": attachment.pages,
            "pages_without_text": attachment.pages_without_text,
            "tokens": attachment.tokens,
            "text_url": reverse("chat:document_text", args=[attachment.pk]),
        }
    return facts


def get_uploader(request: HttpRequest) -> User:
    """Return the person who may upload a file now. Raises a RequestError otherwise."""
    user = access.get_user(request)
    if not settings.ATTACHMENTS:
        raise NotFound(_("This site doesn’t take files."))
    if request.content_type != "multipart/form-data":
        _check_token(request)
        raise UnsupportedMediaType(_("Send the file in a form (multipart/form-data)."))
    uploads.check_room(user)
    return user


def _check_token(request: HttpRequest) -> None:
    """Raise Forbidden without the CSRF token of this session."""
    if CsrfViewMiddleware(lambda _request: HttpResponse()).process_view(request, _unused, (), {}):
        raise Forbidden(str(NO_CSRF))


def _receive(request: HttpRequest) -> ReceivedFile:
    """Return the form's file; the caller closes its file. Raises a RequestError; then nothing is open."""
    handler = FormFiles({FILE_INPUT: 1})
    request.upload_handlers = [handler]
    with form_errors(handler.close, lambda: TooLarge(too_large())):
        request.POST.dict()  # Django reads the form now, and calls the handler
        _check_token(request)
        if not handler.files or not handler.files[0].size:
            raise BadRequest(empty_file())
    return handler.files[0]


def _unused(request: HttpRequest) -> HttpResponse:
    """Stand for a view that is not exempt from the check of the CSRF token."""
    raise NotImplementedError


def too_large() -> str:
    words = _("This file is larger than %(size)s MB. Make it smaller, then add it again.")
    return words % {"size": f"{settings.ATTACHMENT_MAX_BYTES / 1_000_000:g}"}


def _get(request: HttpRequest, attachment: uuid.UUID) -> Attachment:
    """Return the user's own attachment. Raises NotAuthenticated and NotFound."""
    found = Attachment.objects.owned_by(access.get_user(request)).filter(pk=attachment).first()
    if found is None:
        raise _missing()
    return found


def _missing() -> NotFound:
    return NotFound(_("This file doesn’t exist."))


def readable(request: HttpRequest, attachment: uuid.UUID) -> Attachment:
    """Return an attachment of the user's own, a document of an assistant that the user may read, or an
    attachment of others' conversations that the user may review.

    A review is recorded before anything is sent. Raises NotAuthenticated and NotFound.
    """
    try:
        return _get(request, attachment)
    except NotFound:
        user = access.get_user(request)
        if shared := assistant_documents.readable(user).filter(pk=attachment).first():
            return shared
        if not (user.is_staff and user.has_perm("chat.view_conversation")):
            raise
        sent = Attachment.objects.select_related("message__conversation__user").exclude(message=None)
        found = sent.filter(pk=attachment).first()
        if found is None:
            raise
        assert found.message
        record_once(request, found.message.conversation)
        return found


def _set_alt(request: HttpRequest, attachment: uuid.UUID) -> HttpResponseBase:
    found = _get(request, attachment)
    fields = request_fields.parse(request, "alt")
    found.alt = (request_fields.parse_text(fields, "alt", MAX_ALT_CHARS, required=False) or "").strip()
    with write_lock():
        if not Attachment.objects.filter(pk=found.pk).update(alt=found.alt):
            raise _missing()  # removed meanwhile
    return JsonResponse(describe(found))


def _delete(request: HttpRequest, attachment: uuid.UUID) -> HttpResponseBase:
    found = _get(request, attachment)
    with write_lock(), transaction.atomic():
        deleted = discard([found.pk])
    if not deleted:
        raise AlreadySent(_("This file has been sent. It is deleted with its message."))
    return HttpResponse(status=204)
